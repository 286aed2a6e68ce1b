import { describe, expect, test } from "vitest";
import { hourMs, minuteMs } from "../../src/base/clock.ts";
import { defaultReadyLimits } from "../../src/status/conditions.ts";
import { readinessOf } from "../../src/status/render/pages.ts";
import type { CompanyStatusView } from "../../src/status/company-view.ts";
import {
  companyView,
  lookedAtMs,
  madeStep,
  schemaChange,
  service,
  waitingEvents,
} from "../support/status/company-view.ts";

const acme = { name: "acme", webhook: { publicUrl: null } };

function readiness(facts: Partial<CompanyStatusView>) {
  return readinessOf(companyView(facts), lookedAtMs, defaultReadyLimits);
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

  test("while the service does otherwise than expected, which is named", () => {
    const subscriptions = { all: [], receiver: acme, needed: [], lastReceivedMs: null };
    expect(readiness({ drift: { subscriptions, schemaChanges: [schemaChange()] } })).toMatchObject({
      ready: true,
      conditions: [
        { kind: "subscription", blocks: false, message: expect.stringContaining("there is no subscription") },
        { kind: "schema", blocks: false, message: expect.stringContaining("people.nick_name") },
      ],
    });
  });

  test("and names what cannot be read, without the reason, which may quote a record", () => {
    const trouble = { resource: "people", kind: "failed", message: "Jana Kováčová: 500" } as const;
    const { ready, conditions } = readiness({
      wholeness: { troubles: [trouble], quarantined: 0, mayHaveLostEvents: false },
    });
    expect([ready, conditions]).toMatchObject([
      true,
      [{ kind: "partial", subject: "records", message: null }],
    ]);
  });

  test("not while deliveries are refused, or the mirror cannot be written", () => {
    const refusing = {
      since: "2026-11-21T07:00:00.000Z",
      last: "2026-11-21T07:30:00.000Z",
      reason: "bad_signature",
      counts: { bad_signature: 4, missing_header: 1 },
      hint: "compare the webhook secret",
    } as const;
    const receiver = { ...companyView().receiver, refusing };
    expect(readiness({ receiver, writeProblem: "the disk is full" })).toMatchObject({
      ready: false,
      reasons: [
        "the mirror cannot be written: the disk is full",
        "5 deliveries were refused since 2026-11-21T07:00:00.000Z and none was accepted: 4 bad_signature, 1 missing_header; compare the webhook secret",
      ],
    });
  });

  test("not while a secret is missing, or what follows runs fails or is no longer made", () => {
    const failed = { outcome: "failed", error: "no room", last_success_at: null, age_ms: null } as const;
    const steps = [madeStep("report", 28 * hourMs), madeStep("csv ./files", 28 * hourMs, failed)];
    const missingSecrets = [
      "companies.acme.token: the file /run/token cannot be read (there is no such file)",
    ];
    expect(
      readiness({
        afterRun: { steps, problem: "it ended with a signal", isReportScheduled: false },
        missingSecrets,
      }),
    ).toMatchObject({
      ready: false,
      reasons: [
        `a secret is missing: ${missingSecrets[0]}`,
        "what follows runs failed: it ended with a signal",
        "not made after the last run: csv ./files: no room",
        "last made longer than 26h 00m ago, or by a clock that was ahead: report",
      ],
    });
  });

  test("with the service away for a moment, which is shown all the same", () => {
    const away = readiness({ service: service("unavailable", 14 * minuteMs, "connection refused") });
    expect(away).toMatchObject({
      ready: true,
      service: "unavailable",
      service_message: "connection refused",
      service_since: "2026-11-21T07:46:00.000Z",
    });
  });

  test("with events received just now, and at the very end of what counts as fresh", () => {
    expect(readiness({ events: waitingEvents(900, 15 * minuteMs) }).ready).toBe(true);
    expect(readiness({ sweptMs: { invoices: lookedAtMs - 26 * hourMs } }).ready).toBe(true);
    expect(readiness({ events: waitingEvents(1, -hourMs) }).ready).toBe(true);
  });

  test("after a run that could not do everything: the list it missed shows it", () => {
    expect(
      readiness({ lastRun: { outcome: "partial", startedMs: 0, finishedMs: 1, message: null } }).ready,
    ).toBe(true);
  });

  test("while a run is under way, whatever the last one came to", () => {
    const cutOff = { outcome: "interrupted", startedMs: 0, finishedMs: 1, message: null };
    expect(readiness({ lastRun: cutOff, run: { mode: "full", startedMs: lookedAtMs } }).ready).toBe(true);
    const run = { mode: "incremental", startedMs: lookedAtMs - minuteMs };
    expect(readiness({ run, lastRun: null, nextRunMs: null })).toMatchObject({
      ready: true,
      run: { mode: "incremental", started_at: "2026-11-21T07:59:00.000Z" },
      last_run: null,
      next_run_at: null,
    });
  });
});

describe("a company is not ready, and says why,", () => {
  // Fault: clock | lists were read by a clock that was a year ahead | the view that /readyz judges | not ready: their age is unknown
  test.each<[string, Partial<CompanyStatusView>, string]>([
    ["while its file is not open", { open: false }, "is not open: deliveries are refused with 503"],
    ["while its file cannot be written", { service: service("database", 0) }, "file cannot be written"],
    [
      "as soon as the token is refused",
      { service: service("unauthenticated", 0) },
      "does not take the token",
    ],
    ["as soon as the token is another company's", { service: service("identity", 0) }, "another company's"],
    [
      "when the service is away for long",
      { service: service("unavailable", 16 * minuteMs) },
      "the service has not been reached for 16m 00s",
    ],
    [
      "when it could not begin",
      { service: service("starting", 2 * hourMs) },
      "the service has not been reached for 2h 00m",
    ],
    [
      "when an event waits too long",
      { events: waitingEvents(12, 16 * minuteMs) },
      "12 events wait, the oldest for 16m 00s",
    ],
    [
      "until a run has read everything, for lists are read before their details",
      { wholeRunMs: null, lastRun: null, run: { mode: "incremental", startedMs: lookedAtMs - 5 * minuteMs } },
      "not everything was read yet: the first run has lasted for 5m 00s",
    ],
    ["also without such a run", { wholeRunMs: null }, "not everything was read yet"],
    [
      "after a run that was cut off, until the next",
      { lastRun: { outcome: "failed", startedMs: 0, finishedMs: 1, message: null } },
      "the last run did not finish: failed",
    ],
    [
      "until each list was read whole once",
      { sweptMs: { invoices: lookedAtMs, clients: null, orders: null } },
      "never read whole: clients, orders",
    ],
    [
      "when a list was not read in time",
      { sweptMs: { invoices: lookedAtMs - 26 * hourMs - 1, clients: lookedAtMs } },
      "read whole longer than 26h 00m ago, or by a clock that was ahead: invoices",
    ],
    [
      "when a list was read in the future: the clock was set back since, and its age is unknown",
      { sweptMs: { invoices: lookedAtMs + 24 * 365 * hourMs, clients: lookedAtMs + 59_000 } },
      "or by a clock that was ahead: invoices",
    ],
  ])("%s", (_, facts, reason) => {
    const { ready, reasons } = readiness(facts);
    expect(ready).toBe(false);
    expect(reasons).toEqual([expect.stringContaining(reason)]);
  });

  test("with all the reasons at once, and the lists by name", () => {
    const { reasons, stale } = readiness({
      service: service("unauthenticated", 0),
      sweptMs: { clients: null, invoices: 0, orders: lookedAtMs },
      events: waitingEvents(1, hourMs),
    });
    expect(reasons).toHaveLength(4);
    expect(stale).toEqual(["clients", "invoices"]);
  });

  test("while its file is not open with that alone, and why: nothing else is known then", () => {
    const message = "the mirror is being written by process 12 (sync)";
    const closed = { open: false, service: service("database", hourMs, message), sweptMs: { clients: null } };
    expect(readiness(closed)).toMatchObject({
      ready: false,
      reasons: [`the mirror's file is not open (${message}): deliveries are refused with 503`],
      database: "closed",
      stale: [],
    });
  });

  test("by other limits", () => {
    const strict = { freshForMs: hourMs, outageLimitMs: 0 };
    const view = companyView({ service: service("unavailable", 1), events: waitingEvents(1, 1) });
    expect(readinessOf(view, lookedAtMs, strict).reasons).toHaveLength(3);
    const never = { freshForMs: Infinity, outageLimitMs: Infinity };
    expect(readinessOf(companyView({ sweptMs: { invoices: 0 } }), lookedAtMs, never).ready).toBe(true);
  });
});
