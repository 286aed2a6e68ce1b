import { describe, expect, test } from "vitest";
import { hourMs, minuteMs } from "../../src/base/clock.ts";
import type { CompanyStatusView } from "../../src/status/company-view.ts";
import { conditionsOf, defaultReadyLimits, spaceConditions } from "../../src/status/conditions.ts";
import type { SchemaChange } from "../../src/store/tables/unknown-columns.ts";
import { companyView, lookedAtMs, madeStep, schemaChange, service } from "../support/status/company-view.ts";

const { lastRun } = companyView();
const whole = companyView().wholeness;
const failedRun = lastRun && { ...lastRun, outcome: "failed", message: "the service is away" };
const run = { mode: "incremental", startedMs: lookedAtMs - minuteMs };
const forbidden = { resource: "invoices", kind: "forbidden", message: "403" } as const;
const held = { resource: "clients", kind: "held", message: "Kept 40 of 50 records" } as const;

const acme = { name: "acme", webhook: { publicUrl: "https://hooks.example.com/webhooks/acme" } };
const unsubscribed = { all: [], receiver: acme, needed: ["invoices.paid"], lastReceivedMs: null };

/** What begins an incident, and what keeps one as it is. */
function judged(facts: Partial<CompanyStatusView>) {
  const all = conditionsOf(companyView(facts), lookedAtMs, defaultReadyLimits);
  const named = (raises: boolean) =>
    all.filter((one) => one.raises === raises).map(({ kind, subject }) => `${kind} ${subject}`);
  return { raises: named(true), keeps: named(false) };
}

/** A receiver of changes; `refused`: why it will not take the next one. */
function waitingReceiver(forMs: number, refused: string | null = null) {
  const position = { log: "a1b2", seq: 7, error: refused, refuses: refused !== null };
  const since = new Date(lookedAtMs - forMs).toISOString();
  return { receiver: "hooks.example.com 1a2b3c4d", position, waiting_since: since };
}

const seen = (daysAgo: number, facts: Partial<SchemaChange> = {}) =>
  schemaChange({ at: new Date(lookedAtMs - daysAgo * 24 * hourMs).toISOString(), ...facts });

describe("an incident", () => {
  test.each<[string, Partial<CompanyStatusView>]>([
    ["failed reading", { lastRun: failedRun }],
    ["failed reading", { service: service("unauthenticated", 1) }],
    ["failed reading", { service: service("unavailable", 16 * minuteMs) }],
    ["failed reading", { open: false, service: service("database", 3 * minuteMs, "file is not a database") }],
    ["failed secrets", { missingSecrets: ["companies.acme.token: the file is empty"] }],
    ["failed after_run", { afterRun: { steps: [], problem: "no room", isReportScheduled: false } }],
    ["stale lists", { sweptMs: { invoices: lookedAtMs - 27 * hourMs } }],
    ["partial records", { wholeness: { ...whole, troubles: [forbidden] } }],
    ["partial records", { wholeness: { ...whole, quarantined: 1 } }],
    ["partial records", { queue: [{ resource: "invoices", kind: "detail", state: "dead", count: 2 }] }],
    ["held deletions", { wholeness: { ...whole, troubles: [held] } }],
    ["gap events", { wholeness: { ...whole, mayHaveLostEvents: true } }],
    ["subscription deliveries", { drift: { subscriptions: unsubscribed, schemaChanges: [] } }],
    ["stale notify", { receivers: [waitingReceiver(61 * minuteMs)] }],
    ["stale notify", { receivers: [waitingReceiver(minuteMs, "it answered 410")] }],
    ["schema 2026-11-21", { drift: { subscriptions: null, schemaChanges: [schemaChange()] } }],
  ])("%s begins with %j", (incident, facts) => {
    expect(judged(facts).raises).toEqual([incident]);
  });

  test("begins for nothing of a current, whole mirror", () => {
    expect(judged({})).toEqual({ raises: [], keeps: [] });
  });

  test.each<[string, Partial<CompanyStatusView>]>([
    ["while the next run is under way", { lastRun: failedRun, run }],
    ["after a run that a person ended", { lastRun: lastRun && { ...lastRun, outcome: "interrupted" } }],
    ["while the daemon starts", { service: service("starting", 1) }],
    ["while the service is away for a moment", { service: service("unavailable", minuteMs) }],
    ["while the mirror is being opened", { open: false, service: service("starting", 1) }],
  ])("about failed runs stays as it is %s", (_, facts) => {
    expect(judged(facts).raises).toEqual([]);
    expect(judged(facts).keeps).toContain("failed reading");
  });

  test("about what follows runs stays as it is until this process has made it", () => {
    const afterRun = { steps: [madeStep("report", hourMs)], problem: undefined, isReportScheduled: false };
    expect(judged({ afterRun })).toEqual({ raises: [], keeps: ["failed after_run"] });
    expect(judged({ afterRun: { ...afterRun, problem: null } })).toEqual({ raises: [], keeps: [] });
  });

  test("about refused deliveries stays as it is until one is taken, also after a restart", () => {
    expect(judged({ deliveries: {} }).keeps).toEqual(["refused deliveries"]);
    expect(judged({ deliveries: { 401: 9 } }).keeps).toEqual(["refused deliveries"]);
    expect(judged({ deliveries: { known: 1 } }).keeps).toEqual([]);
  });

  test("about what only the file shows stays as it is while the file is closed, or a run asks again", () => {
    const shown = "failed writing,stale lists,stale events,partial records,held deletions,gap events";
    expect(judged({ open: false, service: service("starting", 1) }).keeps).toEqual(
      expect.arrayContaining([...shown.split(","), "subscription deliveries", "schema *"]),
    );
    expect(judged({ run }).keeps).toEqual(["partial records", "held deletions"]);
  });

  test("about what follows runs does not end where the file is closed, as when the daemon starts", () => {
    const afterRun = { steps: [], problem: "no room", isReportScheduled: false };
    const closed = judged({ open: false, service: service("starting", 1), afterRun });
    expect(closed.raises).toEqual(["failed after_run"]);
  });

  test("about new fields is one a day, waits for the end of a run, and ends after a week", () => {
    const schemaChanges = [
      seen(8),
      seen(7),
      seen(2),
      seen(2, { field: "orders.buyer.zip", type: "list", record: "9" }),
      seen(0),
    ];
    const drift = { subscriptions: null, schemaChanges };
    expect(judged({ drift })).toEqual({ raises: ["schema 2026-11-19", "schema 2026-11-21"], keeps: [] });
    expect(judged({ drift, run }).keeps).toEqual(
      expect.arrayContaining(["schema 2026-11-19", "schema 2026-11-21"]),
    );
    const [first] = conditionsOf(companyView({ drift }), lookedAtMs, defaultReadyLimits);
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
