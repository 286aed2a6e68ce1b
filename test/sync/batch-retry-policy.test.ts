import { expect, test } from "vitest";
import { silentLog } from "../../src/base/logger.ts";
import { ForbiddenError, UnavailableError } from "../../src/connector/service-errors.ts";
import type { WorkItem } from "../../src/state/work-item.ts";
import { Tally } from "../../src/sync/context/tally.ts";
import { BatchRetryPolicy } from "../../src/sync/retry/batch-retry-policy.ts";
import { createDrivenClock } from "../support/rate-limit/rate-limit.ts";

const away = () => new UnavailableError("503");

function itemOf(id: number, resource = "people"): WorkItem {
  const rest = { attempts: 0, lane: "hydration", reason: "new", dirtySeq: 1 } as const;
  return { id, kind: "detail", resource, target: `id:${id}`, ...rest };
}

function policyWith(ask: () => Promise<unknown> = () => Promise.resolve()) {
  const clock = createDrivenClock();
  const ended = new AbortController().signal;
  const parts = { clock, log: silentLog, tally: new Tally(), patienceMs: 900_000, ended };
  return { policy: new BatchRetryPolicy(parts, ask), clock };
}

test("one record's own failures: tried again 5 times over a minute while others succeed, then set aside", () => {
  const { policy } = policyWith();
  const outcomes = Array.from({ length: 6 }, () => {
    policy.succeeded(itemOf(2));
    return policy.judge(away(), itemOf(1));
  });
  expect(outcomes.map(({ kind }) => kind)).toEqual(["postpone", "retry", "retry", "retry", "retry", "dead"]);
  const pausesMs = outcomes.map((outcome) => ("afterMs" in outcome ? outcome.afterMs : 0));
  expect(pausesMs.reduce((sum, ms) => sum + ms)).toBe(60_000);
});

test("an outage uses up no attempt, however long", async () => {
  const { policy, clock } = policyWith();
  policy.succeeded(itemOf(2));
  for (let minutes = 0; minutes < 14; minutes++) {
    expect(policy.judge(away(), itemOf(1))).toEqual({ kind: "postpone", afterMs: 2_000 });
    await clock.advance(60_000);
  }
  expect(policy.isFailing("people")).toBe(true);
  await clock.advance(60_000);
  expect(policy.judge(away(), itemOf(3))).toMatchObject({ kind: "stop", because: { kind: "unavailable" } });
});

test("any answer of the service ends the outage, a refusal too", () => {
  const { policy } = policyWith();
  policy.judge(away(), itemOf(1));
  policy.judge(new ForbiddenError("403", { status: 403 }), itemOf(2));
  expect(policy.outage).toBeNull();
});

test("a probe that is answered shows that the failures are the items' own", async () => {
  const { policy } = policyWith();
  const kinds: string[] = [];
  for (let times = 1; times <= 6; times++) {
    kinds.push(policy.judge(away(), itemOf(1)).kind);
    await policy.probe();
    expect(policy.outage).toBeNull();
  }
  expect(kinds.at(-1)).toBe("dead");
});

test("a probe that fails keeps the run waiting; one that is refused ends it", async () => {
  const { policy } = policyWith(() => Promise.reject(away()));
  policy.judge(away(), itemOf(1));
  await policy.probe();
  expect(policy.outage).not.toBeNull();
  const refused = policyWith(() => Promise.reject(new ForbiddenError("403")));
  await expect(refused.policy.probe()).rejects.toBeInstanceOf(ForbiddenError);
});
