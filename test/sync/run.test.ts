import { getEventListeners } from "node:events";
import { expect } from "vitest";
import { silentLog } from "../../src/base/logger.ts";
import { seededRandom } from "../support/seeded-random.ts";
import type { Transport } from "../../src/connector/transport.ts";
import { WorkQueue } from "../../src/state/work-queue.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { resourceOf } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { rows, startMs } from "../support/mirror/store.ts";
import { stillClock } from "../support/mirror/run.ts";
import { answerOf, runOnce } from "../support/mirror/whole-run.ts";
import { isWholeRun, isWorthPublishing, listedOutcome } from "../../src/sync/context/run-report.ts";

/** A shop named so, with these colours. */
function service(name: string, colours: readonly object[], onColours = () => 0): Transport {
  return {
    send: async (request) => {
      request.onSent?.();
      if (request.path === "/colours") onColours();
      const answer = request.path === "/shop" ? { name } : { data: colours };
      return answerOf(answer);
    },
  };
}

type Parts = Parameters<typeof runOnce>;

/** A run over this service, which reads colours one by one. */
function run(
  mirror: Mirror,
  transport: Transport,
  parts: Partial<Parts[0]> = {},
  asked: Partial<Parts[1]> = {},
) {
  const own = { mirror, queue: new WorkQueue(mirror.db), transport, clock: stillClock, log: silentLog };
  const resources = [resourceOf("colours"), resourceOf("shop")];
  const given = { ...own, random: seededRandom(1), token: "token", ...parts };
  return runOnce(given, { resources, concurrency: 1, ...asked });
}

const red = { id: 1, label: "red" };

// Fault: process | thousands of runs in one process | the signals that end them all | none listens to them any more when it is over, so none is kept in memory
test("a run leaves nothing on the signals that outlive it, however it ends", async ({ mirror }) => {
  const fails: Transport = { send: () => Promise.reject(new Error("a bug")) };
  for (const transport of [service("Acme", [red]), fails]) {
    const [signal, closed] = [new AbortController().signal, new AbortController().signal];
    await run(mirror, transport, {}, { signal, closed }).catch(() => null);
    const left = [signal, closed].flatMap((one) => getEventListeners(one, "abort"));
    expect(left).toEqual([]);
  }
});

test("I2: a run mirrors what was selected; a second one writes nothing of the records", async ({
  mirror,
}) => {
  const { outcome, resources } = await run(mirror, service("Acme", [red]));
  expect([outcome, Object.keys(resources)]).toEqual(["complete", ["colours", "shop"]]);
  expect(resources["colours"]).toMatchObject({ inserted: 1, pending: 0 });
  const before = rows(mirror, "SELECT * FROM _change_log");
  const fences = rows(mirror, "SELECT * FROM _fence_colours");
  const report = await run(mirror, service("Acme", [red]));
  expect(report.resources["colours"]).toMatchObject({ unchanged: 1, inserted: 0, updated: 0 });
  expect(rows(mirror, "SELECT * FROM _change_log")).toEqual(before);
  expect(rows(mirror, "SELECT * FROM _fence_colours")).toEqual(fences);
});

// Fault: identity | a token of another company | the config's token, over a filled mirror | refused before anything is written (I10)
test("I10: another company's token is refused before any write, unless overridden", async ({ mirror }) => {
  await run(mirror, service("Acme", [red]));
  const before = mirror.db.prepare("SELECT total_changes()").pluck().get();
  const stranger = service("Globex", []);
  const report = await run(mirror, stranger, { token: "other" });
  expect(report).toMatchObject({ outcome: "identity", error: { kind: "identity" } });
  expect(mirror.db.prepare("SELECT total_changes()").pluck().get()).toBe(before);
  const insisted = await run(mirror, stranger, { token: "other" }, { acceptIdentity: true });
  expect(insisted.outcome).not.toBe("identity");
});

test("a database that fails between two answers ends the run with its file's name", async ({ mirror }) => {
  let looks = 0;
  const transport = service("Acme", [red], () => (looks = 1));
  // After the list came, the clock is looked at for the answer, and then for the next row of the queue.
  const nowMs = () => {
    if (looks > 0 && ++looks === 3) mirror.db.exec("DROP TABLE _work");
    return startMs;
  };
  const report = await run(mirror, transport, { clock: { ...stillClock, nowMs } });
  expect(report.outcome).toBe("database");
  expect(report.error).toMatchObject({
    kind: "database",
    message: `no such table: _work: ${mirror.db.name}`,
  });
});

const at = "2026-11-22T02:20:00.000Z";
const scrub = { total: 9, planned: 5, read: 5, changed: 0, left: 0 };

const whole = (outcome: string | null, listedAt?: string | null) =>
  isWholeRun({ outcome, ...(listedAt !== undefined && { listed_at: listedAt }) });

const worth = (outcome: "complete" | "partial" | "stopped" | "failed" | "interrupted", more: object = {}) =>
  isWorthPublishing({ outcome, listed_at: at, scrub: null, ...more });

test("a run is whole once everything listed is in, whatever cut off its scrub", () => {
  expect([whole("complete"), whole("partial", at), whole("stopped", at), whole(null, at)]).toEqual(
    Array(4).fill(true),
  );
  expect([whole("stopped", null), whole("failed"), whole(null)]).toEqual(Array(3).fill(false));
});

test("a scrub that was cut off leaves the outcome of the rest", () => {
  const trouble = { resource: "orders", kind: "dead", message: "id:1 was refused" } as const;
  expect(listedOutcome({ outcome: "stopped", listed_at: at, troubles: [] })).toBe("complete");
  expect(listedOutcome({ outcome: "failed", listed_at: at, troubles: [trouble] })).toBe("partial");
  expect(listedOutcome({ outcome: "stopped", listed_at: null, troubles: [] })).toBe("stopped");
});

test("reports and exports are made after a run, unless its scrub found nothing since they were", () => {
  expect([
    worth("complete"),
    worth("partial"),
    worth("complete", { scrub: { ...scrub, planned: 0 } }),
  ]).toEqual(Array(3).fill(true));
  expect(worth("complete", { scrub })).toBe(false);
  expect(worth("complete", { scrub: { ...scrub, changed: 2 } })).toBe(true);
  expect(worth("stopped", { scrub: { ...scrub, changed: 2 } })).toBe(true);
  expect(worth("interrupted", { scrub: { ...scrub, changed: 2 } })).toBe(false);
  expect(worth("failed", { listed_at: null })).toBe(false);
});

test("a night that a limit cut off is shown by reports and exports, too", () => {
  expect(worth("stopped", { listed_at: null })).toBe(true);
});
