import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { silentLog } from "../../src/base/logger.ts";
import { seededRandom } from "../support/seeded-random.ts";
import type { Transport } from "../../src/connector/transport.ts";
import type { RunParts } from "../../src/sync/context/run-context.ts";
import { runSync } from "../../src/sync/run/sync-run.ts";
import { WorkQueue } from "../../src/state/work-queue.ts";
import { Tally } from "../../src/sync/context/tally.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { openShop, resourceOf } from "../support/mirror/mirror.ts";
import { rows, startMs } from "../support/mirror/store.ts";
import { stillClock } from "../support/mirror/run.ts";

/** A shop named so, with these colours. */
function service(name: string, colours: readonly object[], onColours = () => 0): Transport {
  return {
    send: async (request) => {
      request.onSent?.();
      if (request.path === "/colours") onColours();
      const answer = request.path === "/shop" ? { name } : { data: colours };
      return {
        status: 200,
        headers: {},
        body: Buffer.from(JSON.stringify(answer)),
        requestId: null,
        attempts: 1,
      };
    },
  };
}

function partsOf(mirror: Mirror, transport: Transport, token = "token"): RunParts {
  return {
    mirror,
    queue: new WorkQueue(mirror.db),
    transport,
    clock: stillClock,
    random: seededRandom(1),
    log: silentLog,
    token,
    tally: new Tally(),
    rateLimited: () => 0,
    notices: { newColumns: [], missingFields: new Set(), unkeptFields: new Set() },
  };
}

function options(more: { acceptIdentity?: boolean } = {}) {
  return {
    resources: [resourceOf("shop"), resourceOf("colours")],
    full: false,
    allowMassDelete: false,
    acceptIdentity: false,
    parentsPerRun: "auto" as const,
    scrub: null,
    concurrency: 1,
    patienceMs: 60_000,
    share: "all" as const,
    signal: new AbortController().signal,
    closed: new AbortController().signal,
    graceMs: 30_000,
    ...more,
  };
}

const red = { id: 1, label: "red" };

test("a run mirrors what was selected and stores its row", async () => {
  const mirror = await openShop();
  const report = await runSync(partsOf(mirror, service("Acme", [red])), options());
  expect(report).toMatchObject({ outcome: "complete", resources: { colours: { inserted: 1, pending: 0 } } });
  expect(rows(mirror, "SELECT outcome FROM _runs")).toEqual([{ outcome: "complete" }]);
});

// Fault: process | thousands of runs in one process | the signals that end them all | none listens to them any more when it is over, so none is kept in memory
test("a run leaves nothing on the signals that outlive it, however it ends", async () => {
  const mirror = await openShop();
  const fails: Transport = { send: () => Promise.reject(new Error("a bug")) };
  for (const transport of [service("Acme", [red]), fails]) {
    const given = options();
    await runSync(partsOf(mirror, transport), given).catch(() => null);
    const left = [given.signal, given.closed].flatMap((signal) => getEventListeners(signal, "abort"));
    expect(left).toEqual([]);
  }
});

test("I2: a second run without changes writes nothing of the records", async () => {
  const mirror = await openShop();
  await runSync(partsOf(mirror, service("Acme", [red])), options());
  const before = rows(mirror, "SELECT * FROM _change_log");
  const fences = rows(mirror, "SELECT * FROM _fence_colours");
  const report = await runSync(partsOf(mirror, service("Acme", [red])), options());
  expect(report.resources["colours"]).toMatchObject({ unchanged: 1, inserted: 0, updated: 0 });
  expect(rows(mirror, "SELECT * FROM _change_log")).toEqual(before);
  expect(rows(mirror, "SELECT * FROM _fence_colours")).toEqual(fences);
});

// Fault: identity | a token of another company | the config's token, over a filled mirror | refused before anything is written (I10)
test("I10: another company's token is refused before anything is written, unless the user overrides", async () => {
  const mirror = await openShop();
  await runSync(partsOf(mirror, service("Acme", [red])), options());
  const before = mirror.db.prepare("SELECT total_changes()").pluck().get();
  const stranger = service("Globex", []);
  const report = await runSync(partsOf(mirror, stranger, "other"), options());
  expect(report).toMatchObject({ outcome: "identity", error: { kind: "identity" } });
  expect(mirror.db.prepare("SELECT total_changes()").pluck().get()).toBe(before);
  const insisted = await runSync(partsOf(mirror, stranger, "other"), options({ acceptIdentity: true }));
  expect(insisted.outcome).not.toBe("identity");
});

test("a database that fails between two answers ends the run with the file's name, not with SQLite's message alone", async () => {
  const mirror = await openShop();
  let looks = 0;
  const transport = service("Acme", [red], () => (looks = 1));
  // After the list came, the clock is looked at for the answer, and then for the next row of the queue.
  const nowMs = () => {
    if (looks > 0 && ++looks === 3) mirror.db.exec("DROP TABLE _work");
    return startMs;
  };
  const report = await runSync({ ...partsOf(mirror, transport), clock: { ...stillClock, nowMs } }, options());
  expect(report.outcome).toBe("database");
  expect(report.error).toMatchObject({
    kind: "database",
    message: `no such table: _work: ${mirror.db.name}`,
  });
});
