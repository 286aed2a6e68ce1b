import { describe, expect, test } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import {
  ContradictionError,
  ForbiddenError,
  InvalidError,
  NetworkError,
  NotFoundError,
  ProtocolError,
  RateLimitedError,
  UnauthenticatedError,
  UnavailableError,
} from "../../src/connector/service-errors.ts";
import { Tally } from "../../src/sync/context/tally.ts";
import {
  batchRetryPolicy,
  continuousRetryPolicy,
  failureOutcome,
  mayPass,
  outageAfter,
  type Outage,
} from "../../src/retry/retry-policies.ts";
import { SetAsideItems } from "../../src/sync/context/run-context.ts";
import { minuteMs } from "../../src/base/clock.ts";
import { silentLog, type Log } from "../../src/base/logger.ts";
import type { WorkKind } from "../../src/base/lane.ts";
import { backoffMs } from "../../src/retry/retry-limits.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { DrivenClock } from "../support/virtual/driven-clock.ts";
import { workItem } from "../support/mirror/state-rows.ts";
import { notFound } from "../support/errors.ts";
import { createWorkerStatus } from "../../src/sync/event-worker/worker-status.ts";

const failing = (kind: WorkKind, attempts = 0) => workItem({ kind, lane: "list", attempts });
const itemOf = (id: number, resource = "people") => workItem({ id, resource, target: `id:${id}` });

const oddAnswer = new ProtocolError("HTML", { retryable: true });
const refused = (field: string) => new InvalidError("422", { [field]: ["no"] });

describe("what a failed read means", () => {
  // Fault: identity | the token is revoked in the middle of a run | an answer to a work item | the run ends at once
  // Fault: service | 403 on the details of one resource | an answer to a work item | that record is set aside; nothing is deleted
  test.each([
    ["401 ends the run", new UnauthenticatedError("401"), "detail", "stop"],
    ["403 on a list holds the resource, not the run", new ForbiddenError("403"), "list", "hold"],
    ["403 on a record sets that record aside", new ForbiddenError("403"), "detail", "dead"],
    ["403 on a record to be confirmed too", new ForbiddenError("403"), "confirm", "dead"],
    ["403 on a parent's list concerns that parent", new ForbiddenError("403"), "child", "dead"],
    ["404 of a record may mean that it is deleted", new NotFoundError("404"), "detail", "missing"],
    ["404 of a record to be confirmed too", new NotFoundError("404"), "confirm", "missing"],
    ["404 of a parent's list checks the parent", new NotFoundError("404"), "child", "check parent"],
    ["404 of a list holds the resource", new NotFoundError("404"), "list", "hold"],
    ["422 on the page size asks for smaller pages", refused("perPage"), "list", "other list form"],
    ["422 on the order asks without it", refused("sortBy"), "list", "other list form"],
    ["422 of a parent's list checks the parent", refused("clientId"), "child", "check parent"],
    ["422 on a parent's page size asks for smaller pages", refused("perPage"), "child", "other list form"],
    ["422 of a record makes a dead letter", refused("id"), "detail", "dead"],
    ["503 is tried again", new UnavailableError("503"), "detail", "retry"],
    ["no answer is tried again", new NetworkError("reset"), "list", "retry"],
    ["429 is tried again", new RateLimitedError("429"), "child", "retry"],
    ["a malformed answer that may pass is tried again", oddAnswer, "list", "retry"],
    ["one that will not pass makes a dead letter", new ProtocolError("too large"), "detail", "dead"],
    ["a limit lets requests in flight finish", new MirrorError("stopped", "enough"), "list", "drain"],
    ["a bug of ours ends the run", new TypeError("undefined"), "list", "stop"],
    ["a thrown text ends the run", "a text", "list", "stop"],
  ] as const)("%s", (_case, error, kind, consequence) => {
    expect(failureOutcome(error, failing(kind)).kind).toBe(consequence);
  });

  test("no attempt is endless: the last one makes a dead letter", () => {
    const error = new UnavailableError("503");
    const kinds = [0, 1, 2, 3].map((attempts) => failureOutcome(error, failing("detail", attempts)).kind);
    expect(kinds).toEqual(["retry", "retry", "dead", "dead"]);
  });

  const ending = ["usage", "config", "identity", "locked", "unauthenticated", "database"] as const;
  test.each(ending)("an error that concerns more than one item ends the run: %s", (kind) =>
    expect(failureOutcome(new MirrorError(kind, "x"), failing("detail"))).toEqual({ kind: "stop" }),
  );
});

describe("records that a run sets aside", () => {
  test("count in a row once each, until their resource answers 200", () => {
    const setAside = new SetAsideItems();
    const [first, second] = [failing("detail"), { ...failing("detail"), target: "id:2" }];
    expect([first, first, second].map((item) => setAside.refused(item))).toEqual([1, 1, 2]);
    expect(setAside.refused({ ...first, resource: "orders" })).toBe(1);
    setAside.answered("people");
    expect(setAside.refused(second)).toBe(1);
  });

  test("are not asked again in the run after the third time, whatever queues them", () => {
    const setAside = new SetAsideItems();
    const item = failing("detail");
    for (let times = 1; times <= 3; times++) {
      expect(setAside.spentReason(item)).toBeNull();
      setAside.add(item, "403");
    }
    expect(setAside.spentReason(item)).toBe("403");
    expect(setAside.spentReason({ ...item, target: "id:2" })).toBeNull();
  });

  test("are one trouble for each resource and kind, with the latest message", () => {
    const tally = new Tally();
    const troubles = { first: "dead", second: "dead", third: "held" } as const;
    for (const [message, kind] of Object.entries(troubles))
      tally.trouble({ resource: "people", kind, message });
    expect(tally.allTroubles().map(({ message }) => message)).toEqual(["second", "third"]);
  });
});

const patienceMs = 15 * minuteMs;
const away = (retryAfterMs: number | null = null) => new UnavailableError("503", { retryAfterMs });

const after = (outage: Outage | null, nowMs: number, retryAfterMs: number | null = null) =>
  outageAfter(outage, { error: away(retryAfterMs), nowMs }, patienceMs);

describe("a run's outage", () => {
  test("is probed after 2 s at first, later every 60 s, and last when the patience is over", () => {
    const atS: number[] = [];
    let outage: Outage = after(null, 1_000);
    for (; outage.probeAtMs < outage.untilMs; outage = after(outage, outage.probeAtMs))
      atS.push((outage.probeAtMs - 1_000) / 1_000);
    expect(atS.slice(0, 8)).toEqual([2, 6, 14, 30, 62, 122, 182, 242]);
    expect(outage).toMatchObject({ sinceMs: 1_000, probeAtMs: 1_000 + patienceMs });
    expect(atS.length).toBeLessThan(20);
  });

  test("is not lengthened by requests that were in flight when it began", () => {
    expect(after(after(null, 0), 1_999)).toMatchObject({ probes: 0, probeAtMs: 2_000 });
  });

  // Fault: service | 503 with a long Retry-After | the run's outage | probed as late as asked, but once a minute
  test("is probed as late as Retry-After asks, but once a minute", () => {
    const firstProbes = [null, 0, 1_000, 20_000, 3_600_000].map((ms) => after(null, 0, ms).probeAtMs);
    expect(firstProbes).toEqual([2_000, 2_000, 2_000, 20_000, 60_000]);
  });
});

// Fault: limiter | 429 with Retry-After 0, for good | failures of a run | it is an outage: one request at a time, and the run fails after `http.patience` (I8)
// Fault: service | each answer is 401, 403, 404, 422, 500 or a page | failures of a run | what may pass is waited for; what does not ends the run at once
test("only errors that may pass begin an outage", () => {
  const page = new ProtocolError("HTML", { retryable: true });
  const passing = [away(), new NetworkError("reset"), page, new RateLimitedError("429")];
  expect(passing.filter((error) => !mayPass(error))).toEqual([]);
  const forGood = new NetworkError("certificate", { retryable: false });
  const lasting = [forGood, new ForbiddenError("403"), new ContradictionError("page"), new TypeError("bug")];
  expect(lasting.filter(mayPass)).toEqual([]);
});

function policyWith(ask: () => Promise<unknown> = () => Promise.resolve()) {
  const clock = new DrivenClock();
  const ended = new AbortController().signal;
  const parts = { clock, log: silentLog, tally: new Tally(), patienceMs: 900_000, ended };
  return { policy: batchRetryPolicy(parts, ask), clock };
}

// Fault: service | one record answers 500 for good | failures of a run, between successes of others | five more attempts over a minute, then set aside
test("one record's own failures: tried again 5 times over a minute while others succeed, then set aside", () => {
  const { policy } = policyWith();
  const outcomes = Array.from({ length: 6 }, () => {
    policy.succeeded(itemOf(2));
    return policy.judge(away(), itemOf(1));
  });
  expect(outcomes.map(({ kind }) => kind)).toEqual(["postpone", "retry", "retry", "retry", "retry", "dead"]);
  const pausedMs = outcomes.reduce((sum, one) => sum + ("afterMs" in one ? one.afterMs : 0), 0);
  expect(pausedMs).toBe(60_000);
});

// Fault: service | each answer comes after the deadline, or is a failure | failures of a run | waited for as long as `http.patience` says, with one request at a time; then it fails
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

// Fault: service | each answer but that of /whoami comes after the deadline | failures of a run, with a probe that succeeds | the items' own: set aside after a few
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
  const refusedProbe = policyWith(() => Promise.reject(new ForbiddenError("403")));
  await expect(refusedProbe.policy.probe()).rejects.toBeInstanceOf(ForbiddenError);
});

const eventItem = (id: number, attempts = 0) =>
  workItem({ id, attempts, target: `id:${id}`, lane: "webhook", reason: "people.updated" });

/** `probe`: why the service does not answer; null when it does. */
function continuousPolicy(probe: () => unknown) {
  const seen = { working: 0, probes: 0 };
  const ask = async () => {
    seen.probes += 1;
    const why = probe();
    if (why !== null) throw why;
  };
  const policy = continuousRetryPolicy(silentLog, ask, () => (seen.working += 1));
  return { policy, seen };
}

// Fault: service | a well-formed answer shows another record | the event worker | not taken for an outage, without a probe: tried 5 times, then set aside
test("an answer that contradicts its question is no outage, however often: the record is tried 5 times", async () => {
  const { policy, seen } = continuousPolicy(() => new NetworkError("nobody there"));
  const kinds: string[] = [];
  for (let times = 0; times < 40; times++)
    kinds.push((await policy.judge(new ContradictionError("record 8"), eventItem(times, times % 5))).kind);
  expect(kinds.slice(0, 5)).toEqual(["retry", "retry", "retry", "retry", "dead"]);
  expect(new Set(kinds)).toEqual(new Set(["retry", "dead"]));
  expect(seen.probes).toBe(0);
});

describe("in the event worker, a failure that may be an outage", () => {
  test.each([
    ["503", away()],
    ["no answer", new NetworkError("reset")],
    ["429 for ever", new RateLimitedError("429")],
    ["a page with 200", new ProtocolError("HTML")],
    ["a page with 404", notFound(null)],
  ])("%s: the service is probed; where that fails, its error is the reason to pause", async (_c, error) => {
    const why = new NetworkError("nobody there");
    const { policy, seen } = continuousPolicy(() => why);
    expect(await policy.judge(error, eventItem(1))).toEqual({ kind: "stop", because: why });
    expect(seen.probes).toBe(1);
  });

  test("is probed once, for all items that fail meanwhile", async () => {
    const { policy, seen } = continuousPolicy(() => null);
    await Promise.all([1, 2, 3].map((id) => policy.judge(away(), eventItem(id))));
    expect(seen.probes).toBe(1);
  });

  // Fault: service | every record's route answers 500, and /whoami answers | failures, with a probe that succeeds | no attempt is used up, the event worker pauses
  test("uses up no attempt of an item that fails while nothing else succeeds", async () => {
    const { policy } = continuousPolicy(() => null);
    for (let times = 1; times < 12; times++)
      expect((await policy.judge(away(), eventItem(1, 1))).kind).toBe("postpone");
    expect((await policy.judge(away(), eventItem(1, 1))).kind).toBe("stop");
  });

  // Fault: service | one record answers 500 while others are read | failures of one item, between successes of others | a dead letter
  test("counts as the item's own when others succeeded in between, not it, and ends as a dead letter", async () => {
    const policy = continuousPolicy(() => null).policy;
    const judge = async (attempts: number) => (await policy.judge(away(), eventItem(1, attempts))).kind;
    const kinds = [await judge(0)];
    for (const [succeeded, attempts] of [[2, 0] as const, [1, 1] as const, [2, 2] as const]) {
      policy.succeeded(eventItem(succeeded));
      kinds.push(await judge(attempts));
    }
    expect(kinds).toEqual(["postpone", "retry", "postpone", "dead"]);
  });

  test("a probe that was aborted by the end of the worker is no outage", async () => {
    const { policy } = continuousPolicy(() => new MirrorError("stopped", "closing"));
    expect(await policy.judge(away(), eventItem(1))).toEqual({ kind: "drain" });
  });
});

describe("in the event worker, a failure that is the record's own", () => {
  test.each([
    ["403 concerns one item, not the resource", new ForbiddenError("403"), "dead"],
    ["422 is a dead letter", new InvalidError("422", {}), "dead"],
    ["404 with the service's message is judged by its proofs", notFound("No"), "missing"],
    ["an unforeseen error concerns that item only", new TypeError("undefined is no function"), "dead"],
  ])("%s, without a probe", async (_case, error, kind) => {
    const { policy, seen } = continuousPolicy(() => null);
    expect((await policy.judge(error, eventItem(1))).kind).toBe(kind);
    expect(seen).toEqual({ probes: 0, working: 1 });
  });

  test("an odd answer is, once the probe has succeeded", async () => {
    const { policy } = continuousPolicy(() => null);
    expect(await policy.judge(new ProtocolError("HTML"), eventItem(1))).toEqual({ kind: "dead" });
  });
});

const everyone = [new UnauthenticatedError("401"), new MirrorError("database", "full")];
test.each(everyone)("%s pauses everything at once", async (error) => {
  const { policy, seen } = continuousPolicy(() => null);
  expect(await policy.judge(error, eventItem(1))).toEqual({ kind: "stop" });
  expect(seen).toEqual({ probes: 0, working: 0 });
});

test("in the event worker, having nothing to do counts as working, unless the last read failed", async () => {
  const { policy, seen } = continuousPolicy(() => null);
  policy.idle();
  expect(seen.working).toBe(1);
  await policy.judge(away(), eventItem(1));
  policy.idle();
  expect(seen.working).toBe(1);
});

// Fault: identity | the token is refused for an hour, then works again | the pauses of the event worker | it is tried every few minutes; events wait for it
test.each([
  ["unavailable", [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, minuteMs, minuteMs]],
  ["database", [1_000, 2_000, 4_000]],
  ["unauthenticated", [30_000, minuteMs, 2 * minuteMs, 4 * minuteMs, 5 * minuteMs, 5 * minuteMs]],
  ["identity", [5 * minuteMs, 5 * minuteMs]],
] as const)("%s: pauses of %j, and never longer", (impediment, pauses) => {
  const { status } = setUp();
  expect(pauses.map(() => status.impeded(new MirrorError(impediment, "x")))).toEqual(pauses);
});

function setUp() {
  const clock = new DrivenClock();
  const lines: string[] = [];
  const say = (message: string) => void lines.push(message);
  const log: Log = { debug: say, info: say, warn: say, error: say };
  return { clock, lines, status: createWorkerStatus(clock, log) };
}

test("each change is reported once, with the time since it holds; a repetition every 15 minutes, and its message replaces the old one", async () => {
  const seen = setUp();
  seen.status.works();
  expect(seen.status.state().state).toBe("working");
  await seen.clock.advance(minuteMs);
  const sinceMs = seen.clock.nowMs();
  expect(seen.status.impeded(new NetworkError("reset"))).toBe(1_000);
  await seen.clock.advance(minuteMs);
  expect(seen.status.impeded(new NetworkError("timed out"))).toBe(2_000);
  expect(seen.status.state()).toEqual({ state: "unavailable", message: "timed out", sinceMs });
  expect(seen.lines).toHaveLength(2);
  await seen.clock.advance(14 * minuteMs);
  for (const _ of [1, 2]) seen.status.impeded(new NetworkError("timed out"));
  expect(seen.lines.slice(2)).toEqual(seen.lines.slice(1, 2));
  expect(seen.status.impeded(new UnauthenticatedError("401"))).toBe(30_000);
  expect(seen.status.state().state).toBe("unauthenticated");
  seen.status.works();
  seen.status.works();
  expect(seen.status.state().state).toBe("working");
  expect(seen.lines).toHaveLength(5);
});

test("a mirror that another process may write is no fault of the service", () => {
  const seen = setUp();
  seen.status.impeded(new MirrorError("locked", "its lock file was replaced"));
  expect(seen.status.state().state).toBe("database");
});

const backoff = { baseMs: 500, maxMs: 30_000 };

test("the pause doubles with each failed attempt, up to the longest", () => {
  const pauses = [1, 2, 3, 6, 7, 8, 60, 5_000].map((attempt) => backoffMs(attempt, backoff));
  expect(pauses).toEqual([500, 1_000, 2_000, 16_000, 30_000, 30_000, 30_000, 30_000]);
  expect(backoffMs(0, backoff)).toBe(500);
});

test("half of the pause is random where a source of random numbers is given", () => {
  const pauses = Array.from({ length: 20 }, (_, seed) => backoffMs(3, backoff, seededRandom(seed)));
  expect(pauses.filter((pauseMs) => pauseMs < 1_000 || pauseMs > 2_000)).toEqual([]);
  expect(new Set(pauses).size).toBeGreaterThan(15);
});
