import { describe, expect, test } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/logger.ts";
import { ContradictionError, ForbiddenError, InvalidError } from "../../src/connector/service-errors.ts";
import { NetworkError, ProtocolError } from "../../src/connector/service-errors.ts";
import { RateLimitedError, UnauthenticatedError } from "../../src/connector/service-errors.ts";
import { UnavailableError } from "../../src/connector/service-errors.ts";
import { continuousRetryPolicy } from "../../src/sync/retry/continuous-retry-policy.ts";
import type { WorkItem } from "../../src/state/work-item.ts";
import { notFound } from "../support/mirror/run.ts";

function row(id: number, attempts = 0): WorkItem {
  const reason = "people.updated";
  const target = `id:${id}`;
  return { id, attempts, kind: "detail", resource: "people", target, lane: "webhook", reason, dirtySeq: 1 };
}

/** `probe`: why the service does not answer; null when it does. */
function policyWith(probe: () => unknown) {
  const seen = { working: 0, probes: 0 };
  const ask = async () => {
    seen.probes += 1;
    const why = probe();
    if (why !== null) throw why;
  };
  const policy = continuousRetryPolicy(silentLog, ask, () => (seen.working += 1));
  return { policy, seen };
}

const away = () => new UnavailableError("503");

// Fault: service | a well-formed answer shows another record | the event worker | not taken for an outage, without a probe: tried 5 times, then set aside
test("an answer that contradicts its question is no outage, however often: the record is tried 5 times", async () => {
  const { policy, seen } = policyWith(() => new NetworkError("nobody there"));
  const kinds: string[] = [];
  for (let times = 0; times < 40; times++)
    kinds.push((await policy.judge(new ContradictionError("returned record 8"), row(times, times % 5))).kind);
  expect(kinds.slice(0, 5)).toEqual(["retry", "retry", "retry", "retry", "dead"]);
  expect(new Set(kinds)).toEqual(new Set(["retry", "dead"]));
  expect(seen.probes).toBe(0);
});

describe("a failure that may be an outage", () => {
  test.each([
    ["503", away()],
    ["no answer", new NetworkError("reset")],
    ["429 for ever", new RateLimitedError("429")],
    ["a page with 200", new ProtocolError("HTML")],
    ["a page with 404", notFound(null)],
  ])("%s: the service is probed; where that fails, its error is the reason to pause", async (_c, error) => {
    const why = new NetworkError("nobody there");
    const { policy, seen } = policyWith(() => why);
    expect(await policy.judge(error, row(1))).toEqual({ kind: "stop", because: why });
    expect(seen.probes).toBe(1);
  });

  test("is probed once, for all items that fail meanwhile", async () => {
    const { policy, seen } = policyWith(() => null);
    await Promise.all([1, 2, 3].map((id) => policy.judge(away(), row(id))));
    expect(seen.probes).toBe(1);
  });

  // Fault: service | every record's route answers 500, and /whoami answers | failures, with a probe that succeeds | no attempt is used up, the event worker pauses
  test("uses up no attempt of an item that fails while nothing else succeeds", async () => {
    const { policy } = policyWith(() => null);
    for (let times = 1; times < 12; times++) {
      expect((await policy.judge(away(), row(1, 1))).kind).toBe("postpone");
    }
    expect((await policy.judge(away(), row(1, 1))).kind).toBe("stop");
  });

  // Fault: service | one record answers 500 while others are read | failures of one item, between successes of others | a dead letter
  test("counts as the item's own when others succeeded in between, not it, and ends as a dead letter", async () => {
    const policy = policyWith(() => null).policy;
    const judge = async (attempts: number) => (await policy.judge(away(), row(1, attempts))).kind;
    const kinds = [await judge(0)];
    policy.succeeded(row(2));
    kinds.push(await judge(0));
    policy.succeeded(row(1));
    kinds.push(await judge(1));
    policy.succeeded(row(2));
    kinds.push(await judge(2));
    expect(kinds).toEqual(["postpone", "retry", "postpone", "dead"]);
  });

  test("a probe that was aborted by the end of the worker is no outage", async () => {
    const { policy } = policyWith(() => new MirrorError("stopped", "closing"));
    expect(await policy.judge(away(), row(1))).toEqual({ kind: "drain" });
  });
});

describe("a failure that is the record's own", () => {
  test.each([
    ["403 concerns one item, not the resource", new ForbiddenError("403"), "dead"],
    ["422 is a dead letter", new InvalidError("422", {}), "dead"],
    ["404 with the service's message is judged by its proofs", notFound("No"), "missing"],
    ["an unforeseen error concerns that item only", new TypeError("undefined is no function"), "dead"],
  ])("%s, without a probe", async (_case, error, kind) => {
    const { policy, seen } = policyWith(() => null);
    expect((await policy.judge(error, row(1))).kind).toBe(kind);
    expect(seen).toEqual({ probes: 0, working: 1 });
  });

  test("an odd answer is, once the probe has succeeded", async () => {
    const { policy } = policyWith(() => null);
    expect(await policy.judge(new ProtocolError("HTML"), row(1))).toEqual({ kind: "dead" });
  });
});

test.each([new UnauthenticatedError("401"), new MirrorError("database", "full")])(
  "%s pauses everything at once",
  async (error) => {
    const { policy, seen } = policyWith(() => null);
    expect(await policy.judge(error, row(1))).toEqual({ kind: "stop" });
    expect(seen).toEqual({ probes: 0, working: 0 });
  },
);

test("having nothing to do counts as working, unless the last read failed", async () => {
  const { policy, seen } = policyWith(() => null);
  policy.idle();
  expect(seen.working).toBe(1);
  await policy.judge(away(), row(1));
  policy.idle();
  expect(seen.working).toBe(1);
});
