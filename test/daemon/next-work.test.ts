import { describe, expect, test } from "vitest";
import { nextWorkMs } from "../../src/daemon/run-scheduler.ts";

const nowMs = Date.UTC(2026, 10, 21);
const minute = 60_000;

type Service = Parameters<typeof nextWorkMs>[2];

interface Work {
  readonly dueMs?: readonly (number | null)[];
  readonly publishMs?: number;
  readonly service?: Service;
}

function next({ dueMs = [], publishMs, service = { state: "working", sinceMs: 0 } }: Work): number | null {
  return nextWorkMs(dueMs, publishMs ?? null, service, nowMs);
}

/** The service has been away for so long. */
function away(ms: number, state: Service["state"] = "unavailable"): Service {
  return { state, sinceMs: nowMs - ms };
}

describe("when a company has something to do next", () => {
  test("is the first of what is due: runs, reads, the report; nothing is known where none of them is", () => {
    expect(next({})).toBeNull();
    expect(next({ dueMs: [null, nowMs + 9, nowMs + 5], publishMs: nowMs + 7 })).toBe(nowMs + 5);
    expect(next({ dueMs: [null, nowMs + 9], publishMs: nowMs + 7 })).toBe(nowMs + 7);
    expect(next({ dueMs: [null, null], publishMs: nowMs + 7 })).toBe(nowMs + 7);
  });

  test("is now while the service is away for a moment, and every five minutes once it is away for two", () => {
    const dueMs = [nowMs - 10];
    expect(next({ dueMs, service: away(2 * minute) })).toBe(nowMs - 10);
    expect(next({ dueMs, service: away(2 * minute + 1) })).toBe(nowMs + 5 * minute);
    expect(next({ dueMs, service: away(60 * minute, "unauthenticated") })).toBe(nowMs + 5 * minute);
    expect(next({ dueMs: [nowMs + 30 * minute], service: away(60 * minute) })).toBe(nowMs + 30 * minute);
  });

  test("is not put off where the service works or was not asked yet, and the report never is", () => {
    for (const state of ["working", "starting"] as const)
      expect(next({ dueMs: [nowMs], service: away(60 * minute, state) })).toBe(nowMs);
    expect(next({ dueMs: [nowMs], publishMs: nowMs + 1, service: away(60 * minute) })).toBe(nowMs + 1);
    expect(next({ service: away(60 * minute) })).toBeNull();
  });
});
