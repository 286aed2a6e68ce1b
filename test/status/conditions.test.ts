import { describe, expect, test } from "vitest";
import { hourMs, minuteMs } from "../../src/base/clock.ts";
import type { CompanyStatusView } from "../../src/status/company-view.ts";
import { conditionsOf, spaceConditions } from "../../src/status/conditions.ts";
import type { SchemaChange } from "../../src/store/tables/unknown-columns.ts";
import { readinessOf } from "../../src/status/render/pages.ts";
import {
  companyView,
  lookedAtMs,
  madeStep,
  schemaChange,
  service,
  waitingEvents,
} from "../support/status/company-view.ts";

const { lastRun } = companyView();
const whole = companyView().wholeness;
const endedRun = (outcome: string, message: string | null = null) =>
  lastRun && { ...lastRun, outcome, message };
const failedRun = endedRun("failed", "the service is away");
const run = { mode: "incremental", startedMs: lookedAtMs - minuteMs };
const unmade = { steps: [], problem: "no room", isReportScheduled: false };
const forbidden = { resource: "invoices", kind: "forbidden", message: "403" } as const;
const held = { resource: "clients", kind: "held", message: "Kept 40 of 50 records" } as const;

const acme = { name: "acme", webhook: { publicUrl: "https://hooks.example.com/webhooks/acme" } };
const unsubscribed = {
  all: [],
  receiver: acme,
  needed: ["invoices.paid"],
  lastReceivedMs: null,
  readAtMs: lookedAtMs,
};

/** What begins an incident, what keeps one as it is, and why the company is not ready. */
function judged(facts: Partial<CompanyStatusView>) {
  const view = companyView(facts);
  const all = conditionsOf(view, lookedAtMs);
  const named = (isRaised: boolean) =>
    all.filter(({ raises }) => raises === isRaised).map(({ kind, subject }) => `${kind} ${subject}`);
  const { reasons } = readinessOf(view, lookedAtMs);
  return { raises: named(true), keeps: named(false), reasons };
}

/** A receiver of changes; `refused`: why it will not take the next one. */
function waitingReceiver(forMs: number, refused: string | null = null) {
  const position = { log: "a1b2", seq: 7, error: refused, refuses: refused !== null };
  const since = new Date(lookedAtMs - forMs).toISOString();
  return { receiver: "hooks.example.com 1a2b3c4d", position, waiting_since: since };
}

const seen = (daysAgo: number, facts: Partial<SchemaChange> = {}) =>
  schemaChange({ at: new Date(lookedAtMs - daysAgo * 24 * hourMs).toISOString(), ...facts });

const firstRun = { wholeRunMs: null, lastRun: null, run: { ...run, startedMs: lookedAtMs - 5 * minuteMs } };
const swept = (agoMs: number) => ({
  sweptMs: { invoices: lookedAtMs - agoMs, clients: lookedAtMs + 59_000 },
});
const unswept = { sweptMs: { invoices: lookedAtMs, clients: null, orders: null } };
const broken = service("database", 3 * minuteMs, "file is not a database");
const deadWork = { resource: "invoices", kind: "detail", state: "dead", count: 2 } as const;

const failedStep = { outcome: "failed", error: "no room", last_success_at: null, age_ms: null } as const;
const afterRunOf = (step: ReturnType<typeof madeStep>) => ({
  afterRun: { steps: [step], problem: null, isReportScheduled: false },
});
const refusing: CompanyStatusView["receiver"] = {
  ...companyView().receiver,
  refusing: {
    since: "2026-11-21T07:00:00.000Z",
    last: "2026-11-21T07:30:00.000Z",
    reason: "bad_signature",
    counts: { bad_signature: 4, missing_header: 1 },
    hint: "compare the secret",
  },
};

/** What begins with these facts, why the company is not ready then, and which incident stays as it is. */
type Case = readonly [
  facts: Partial<CompanyStatusView>,
  incident: string | null,
  reason: string | null,
  kept?: string,
];
/** Without its token, which is said once. */
const tokenless = { missingSecrets: ["no token"], service: service("unauthenticated", 0, "no token") };
const opening = { open: false, service: service("starting", 1) };

// Fault: clock | lists were read by a clock that was a year ahead | the view that /readyz judges | not ready: their age is unknown
test.for<Case>([
  [{ lastRun: failedRun }, "failed reading", "the last run did not finish: failed: the service is away"],
  [{ service: service("unauthenticated", 0) }, "failed reading", "does not take the token"],
  [{ service: service("identity", 0) }, "failed reading", "another company's"],
  [{ service: service("unavailable", 16 * minuteMs) }, "failed reading", "been reached for 16m 00s"],
  [{ service: service("starting", 2 * hourMs) }, "failed reading", "been reached for 2h 00m"],
  [{ service: service("database", 0) }, "failed reading", "file cannot be written"],
  [{ ...unswept, open: false, service: broken }, "failed reading", "is not open (file is not a database): "],
  [{ missingSecrets: ["the file is empty"] }, "failed secrets", "a secret is missing: the file is empty"],
  [tokenless, "failed secrets", "a secret is missing: no token", "failed reading"],
  [{ afterRun: unmade }, "failed after_run", "what follows runs failed: no room"],
  [afterRunOf(madeStep("csv ./files", hourMs, failedStep)), "failed after_run", "csv ./files: no room"],
  [afterRunOf(madeStep("report", 28 * hourMs)), "stale after_run", "or by a clock that was ahead: report"],
  [{ writeProblem: "the disk is full" }, "failed writing", "cannot be written: the disk is full"],
  [
    { receiver: refusing },
    "refused deliveries",
    "5 deliveries were refused since 2026-11-21T07:00:00.000Z and none was accepted: 4 bad_signature, 1 missing_header; compare the secret",
  ],
  [{ events: waitingEvents(12, 16 * minuteMs) }, "stale events", "12 events wait, the oldest for 16m 00s"],
  [swept(26 * hourMs + 1), "stale lists", "longer than 26h 00m ago, or by a clock that was ahead: invoices"],
  [swept(-24 * 365 * hourMs), "stale lists", "or by a clock that was ahead: invoices"],
  [unswept, null, "never read whole: clients, orders"],
  [firstRun, null, "not everything was read yet: the first run has lasted for 5m 00s"],
  [{ wholeRunMs: null }, null, "not everything was read yet"],
  [{ wholeness: { ...whole, troubles: [forbidden] } }, "partial records", null],
  [{ wholeness: { ...whole, quarantined: 1 } }, "partial records", null],
  [{ queue: [deadWork] }, "partial records", null],
  [{ wholeness: { ...whole, troubles: [held] } }, "held deletions", null],
  [{ wholeness: { ...whole, mayHaveLostEvents: true } }, "gap events", null],
  [{ drift: { subscriptions: unsubscribed, schemaChanges: [] } }, "subscription deliveries", null],
  [{ receivers: [waitingReceiver(61 * minuteMs)] }, "stale notify", null],
  [{ receivers: [waitingReceiver(minuteMs, "it answered 410")] }, "stale notify", null],
  [{ drift: { subscriptions: null, schemaChanges: [schemaChange()] } }, "schema 2026-11-21", null],
  [{ lastRun: endedRun("interrupted") }, null, "did not finish: interrupted", "failed reading"],
  [{ lastRun: endedRun("partial") }, null, null],
  [{ lastRun: failedRun, run }, null, null, "failed reading"],
  [{ service: service("unavailable", 14 * minuteMs, "refused") }, null, null, "failed reading"],
  [{ service: service("starting", 1) }, null, null, "failed reading"],
  [opening, null, "is not open: deliveries are refused with 503", "failed reading"],
  [{ events: waitingEvents(900, 15 * minuteMs) }, null, null],
  [{ events: waitingEvents(1, -hourMs) }, null, null],
  [swept(26 * hourMs), null, null],
  [{}, null, null],
])("with %j there begins %j, it is not ready: %j, and stays: %j", ([facts, incident, reason, kept]) => {
  const { raises, keeps, reasons } = judged(facts);
  expect(raises).toEqual(incident === null ? [] : [incident]);
  expect(reasons).toEqual(reason === null ? [] : [expect.stringContaining(reason)]);
  expect(keeps).toEqual(expect.arrayContaining(kept === undefined ? [] : [kept]));
});

describe("an incident", () => {
  test("about what follows runs stays as it is until this process has made it", () => {
    const afterRun = { steps: [madeStep("report", hourMs)], problem: undefined, isReportScheduled: false };
    expect(judged({ afterRun })).toMatchObject({ raises: [], keeps: ["failed after_run"] });
    expect(judged({ afterRun: { ...afterRun, problem: null } }).keeps).toEqual([]);
  });

  test("about refused deliveries stays as it is until one is taken, also after a restart", () => {
    expect(judged({ deliveries: {} }).keeps).toEqual(["refused deliveries"]);
    expect(judged({ deliveries: { 401: 9 } }).keeps).toEqual(["refused deliveries"]);
    expect(judged({ deliveries: { known: 1 } }).keeps).toEqual([]);
  });

  test("about what only the file shows stays as it is while the file is closed, or a run asks again", () => {
    const shown = "failed writing,stale lists,stale events,partial records,held deletions,gap events";
    expect(judged(opening).keeps).toEqual(
      expect.arrayContaining([...shown.split(","), "subscription deliveries", "schema *"]),
    );
    expect(judged({ run }).keeps).toEqual(["partial records", "held deletions"]);
  });

  test("about what follows runs does not end where the file is closed, as when the daemon starts", () => {
    expect(judged({ ...opening, afterRun: unmade }).raises).toEqual(["failed after_run"]);
  });

  test("about new fields is one a day, waits for the end of a run, and ends after a week", () => {
    const zip = seen(2, { field: "orders.buyer.zip", type: "list", record: "9" });
    const schemaChanges = [seen(8), seen(7), seen(2), zip, seen(0)];
    const drift = { subscriptions: null, schemaChanges };
    const days = ["schema 2026-11-19", "schema 2026-11-21"];
    expect(judged({ drift })).toMatchObject({ raises: days, keeps: [] });
    expect(judged({ drift, run }).keeps).toEqual(expect.arrayContaining(days));
    const [first] = conditionsOf(companyView({ drift }), lookedAtMs);
    expect(first?.message).toBe(
      "since 2026-11-19 the service sends fields that the connector does not know: people.nick_name (first in record 7); orders.buyer.zip as list (first in record 9)",
    );
  });

  test.each([
    [999_999_999, [true]],
    [1_000_000_000, [false]],
    [1_499_999_999, [false]],
    [1_500_000_000, []],
  ])("with %i free bytes begins below 1 GB and ends at 1.5 GB", (freeBytes, raises) => {
    expect(spaceConditions(freeBytes).map((one) => one.raises)).toEqual(raises);
  });
});

function readiness(facts: Partial<CompanyStatusView>) {
  return readinessOf(companyView(facts), lookedAtMs);
}

describe("a company is ready", () => {
  test("while its file is open, its lists were read in time, and no event waits long", () => {
    expect(readiness({})).toEqual({
      ready: true,
      reasons: [],
      conditions: [],
      database: "open",
      service: "working",
      service_message: null,
      service_since: "2026-11-21T00:00:00.000Z",
      refused: {},
      refusing: null,
      clock_skew_seconds: null,
      stale: [],
      events_waiting: 0,
      oldest_event_at: null,
      last_event_at: "2026-11-21T07:59:00.000Z",
      whole_run_at: "2026-11-21T02:00:00.000Z",
      run: null,
      last_run: { outcome: "complete", finished_at: "2026-11-21T02:01:30.000Z" },
      after_run: [],
      next_run_at: "2026-11-22T02:00:00.000Z",
    });
  });

  test("and names what is otherwise than expected; what cannot be read without the reason, which may quote a record", () => {
    const trouble = { resource: "people", kind: "failed", message: "Jana Kováčová: 500" } as const;
    const receiver = { name: "acme", webhook: { publicUrl: null } };
    const subscriptions = { all: [], receiver, needed: [], lastReceivedMs: null, readAtMs: lookedAtMs };
    const state = readiness({
      wholeness: { troubles: [trouble], quarantined: 0, mayHaveLostEvents: false },
      drift: { subscriptions, schemaChanges: [schemaChange()] },
    });
    expect(state).toMatchObject({ ready: true });
    const named = state.conditions.map((one) => [`${one.kind} ${one.subject}`, one.blocks, one.message]);
    expect(named).toEqual([
      ["partial records", false, null],
      ["subscription deliveries", false, expect.stringContaining("there is no subscription")],
      ["schema 2026-11-21", false, expect.stringContaining("people.nick_name")],
    ]);
  });

  test("while its first run is under way since the last one", () => {
    expect(readiness({ run, lastRun: null, nextRunMs: null })).toMatchObject({
      ready: true,
      run: { mode: "incremental", started_at: "2026-11-21T07:59:00.000Z" },
      last_run: null,
      next_run_at: null,
    });
  });
});

describe("a company is not ready, and says why,", () => {
  test("with all the reasons at once, and the lists by name", () => {
    const { reasons, stale } = readiness({
      service: service("unauthenticated", 0),
      sweptMs: { clients: null, invoices: 0, orders: lookedAtMs },
      events: waitingEvents(1, hourMs),
    });
    expect(reasons).toHaveLength(4);
    expect(stale).toEqual(["clients", "invoices"]);
  });

  test("while its file is not open: nothing is known of lists then", () => {
    const closed = { ...opening, sweptMs: { clients: null } };
    expect(readiness(closed)).toMatchObject({ ready: false, database: "closed", stale: [] });
  });

  test("by other limits", () => {
    const strict = { freshForMs: hourMs, outageLimitMs: 0 };
    const away = { service: service("unavailable", 1), events: waitingEvents(1, 1) };
    expect(readiness({ ...away, limits: strict }).reasons).toHaveLength(3);
    const never = { freshForMs: Infinity, outageLimitMs: Infinity };
    expect(readiness({ sweptMs: { invoices: 0 }, limits: never })).toMatchObject({ ready: true });
  });
});
