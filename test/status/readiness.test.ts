import { describe, expect, test } from "vitest";
import { hourMs, minuteMs } from "../../src/base/clock.ts";
import { defaultReadyLimits } from "../../src/status/conditions.ts";
import { readinessOf } from "../../src/status/render/pages.ts";
import type { CompanyStatusView } from "../../src/status/company-view.ts";
import {
  companyView,
  lookedAtMs,
  schemaChange,
  service,
  waitingEvents,
} from "../support/status/company-view.ts";

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

  test("and names what is otherwise than expected; what cannot be read without the reason, which may quote a record", () => {
    const trouble = { resource: "people", kind: "failed", message: "Jana Kováčová: 500" } as const;
    const receiver = { name: "acme", webhook: { publicUrl: null } };
    const subscriptions = { all: [], receiver, needed: [], lastReceivedMs: null };
    const { ready, conditions } = readiness({
      wholeness: { troubles: [trouble], quarantined: 0, mayHaveLostEvents: false },
      drift: { subscriptions, schemaChanges: [schemaChange()] },
    });
    expect(ready).toBe(true);
    expect(conditions).toEqual([
      { kind: "partial", subject: "records", blocks: false, message: null },
      {
        kind: "subscription",
        subject: "deliveries",
        blocks: false,
        message: expect.stringContaining("there is no subscription"),
      },
      {
        kind: "schema",
        subject: "2026-11-21",
        blocks: false,
        message: expect.stringContaining("people.nick_name"),
      },
    ]);
  });

  test("while its first run is under way since the last one", () => {
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
