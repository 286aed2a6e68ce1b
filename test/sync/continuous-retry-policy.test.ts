import { describe, expect, test } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import {
  ForbiddenError,
  InvalidError,
  NetworkError,
  NotFoundError,
  ProtocolError,
  RateLimitedError,
  UnauthenticatedError,
  UnavailableError,
} from "../../src/connector/service-errors.ts";
import { awayAfter } from "../../src/sync/context/limits.ts";
import { ContinuousRetryPolicy } from "../../src/sync/retry/continuous-retry-policy.ts";
import type { WorkItem } from "../../src/state/work-item.ts";
import { openShop } from "../support/mirror.ts";
import { runContextOf } from "../support/sync.ts";

function row(id: number, attempts = 0): WorkItem {
  const reason = "people.updated";
  const target = `id:${id}`;
  return { id, attempts, kind: "detail", resource: "people", target, lane: "webhook", reason, dirtySeq: 1 };
}

/** `probe`: why the service does not answer; null when it does. */
async function policyWith(probe: () => unknown) {
  const seen = { working: 0, probes: 0 };
  const run = runContextOf(await openShop(), { runId: null, share: "events" });
  const policy = new ContinuousRetryPolicy(run, {
    probe: async () => {
      seen.probes += 1;
      return probe();
    },
    onWorking: () => (seen.working += 1),
  });
  return { policy, seen };
}

const away = () => new UnavailableError("503");

describe("a failure that may be an outage", () => {
  test.each([
    ["503", away()],
    ["no answer", new NetworkError("reset")],
    ["429 for ever", new RateLimitedError("429")],
    ["a page with 200", new ProtocolError("HTML")],
    ["a page with 404", new NotFoundError("404", { serviceMessage: null })],
  ])(
    "%s: the service is asked for itself, and when it does not answer, that is the reason to pause",
    async (_c, error) => {
      const why = new NetworkError("nobody there");
      const { policy, seen } = await policyWith(() => why);
      expect(await policy.judge(error, row(1))).toEqual({ kind: "stop", because: why });
      expect(seen.probes).toBe(1);
    },
  );

  test("is asked about once, for all rows that fail meanwhile", async () => {
    const { policy, seen } = await policyWith(() => null);
    await Promise.all([1, 2, 3].map((id) => policy.judge(away(), row(id))));
    expect(seen.probes).toBe(1);
  });

  test("uses up no attempt of a row that failed alone, or while nothing else was read", async () => {
    const { policy } = await policyWith(() => null);
    for (let times = 1; times < awayAfter; times++) {
      expect((await policy.judge(away(), row(1, 1))).kind).toBe("postpone");
    }
    expect((await policy.judge(away(), row(1, 1))).kind).toBe("stop");
  });

  test("is the row's own when others were read in between, and then it ends", async () => {
    const { policy } = await policyWith(() => null);
    const kinds = [];
    for (const attempts of [0, 1, 2]) {
      kinds.push((await policy.judge(away(), row(1, attempts))).kind);
      policy.succeeded(row(2));
    }
    expect(kinds).toEqual(["postpone", "retry", "dead"]);
  });

  test("is forgiven when the row is read after all", async () => {
    const { policy } = await policyWith(() => null);
    await policy.judge(away(), row(1));
    policy.succeeded(row(1));
    expect((await policy.judge(away(), row(1))).kind).toBe("postpone");
  });

  test("an order to end that cuts the question short is no outage", async () => {
    const { policy } = await policyWith(() => new MirrorError("stopped", "closing"));
    expect(await policy.judge(away(), row(1))).toEqual({ kind: "drain" });
  });
});

describe("a failure that is the record's own", () => {
  test.each([
    ["403 closes one row, not the resource", new ForbiddenError("403"), "dead"],
    ["422 is a dead letter", new InvalidError("422", {}), "dead"],
    [
      "404 in the service's words is judged by its proofs",
      new NotFoundError("404", { serviceMessage: "No" }),
      "missing",
    ],
    ["what nobody foresaw is that row's alone", new TypeError("undefined is no function"), "dead"],
  ])("%s, without a question", async (_case, error, kind) => {
    const { policy, seen } = await policyWith(() => null);
    expect((await policy.judge(error, row(1))).kind).toBe(kind);
    expect(seen).toEqual({ probes: 0, working: 1 });
  });

  test("an odd answer is, once the service has answered for itself", async () => {
    const { policy } = await policyWith(() => null);
    expect(await policy.judge(new ProtocolError("HTML"), row(1))).toEqual({ kind: "dead" });
  });
});

test.each([new UnauthenticatedError("401"), new MirrorError("database", "full")])(
  "%s pauses everything at once",
  async (error) => {
    const { policy, seen } = await policyWith(() => null);
    expect(await policy.judge(error, row(1))).toEqual({ kind: "stop" });
    expect(seen).toEqual({ probes: 0, working: 0 });
  },
);

test("having nothing to do counts as working, unless the last thing tried has failed", async () => {
  const { policy, seen } = await policyWith(() => null);
  policy.idle();
  expect(seen.working).toBe(1);
  await policy.judge(away(), row(1));
  policy.idle();
  expect(seen.working).toBe(1);
});
