import { expect, test } from "vitest";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { startPostgres } from "../../support/postgres/server.ts";
import { chaos, type ChaosPlan } from "./chaos.ts";

/** As few as show all of it: a kill, a stop that is longer than a lease, and Postgres that dies. */
const short: ChaosPlan = {
  seed: 1,
  companies: 3,
  records: 4,
  roles: ["all", "all"],
  budget: { limit: 10, windowMs: 5_000 },
  // Reports are made by processes of their own: not too many.
  config: ["resources: { include: [clients, invoices, orders] }", "schedule: { publish_every: 5s }"],
  snapshotEvery: "2s",
  retryScale: 0.01,
  // Neither can hold all: both hold some.
  capacity: 2,
  disturbances: [
    { atMs: 500, lastsMs: 0, what: "kill", node: 0 },
    // While the new process starts.
    { atMs: 900, lastsMs: 0, what: "postgres", mode: "fast" },
    { atMs: 2_000, lastsMs: 14_000, what: "stop", node: 1 },
    { atMs: 10_000, lastsMs: 0, what: "postgres", mode: "immediate" },
  ],
  durationMs: 17_000,
  changeEveryMs: 2_000,
  // A delivery that Postgres' deaths met four times is sent once more after up to 125 s.
  longestRestMs: 150_000,
};

describeWithPostgres("a fleet under chaos", () => {
  // Fault: process | a worker killed, another one stopped for longer than its lease, Postgres killed, while companies change | two processes of `worker`, and Postgres | no epoch has two writers, no delivery is lost, no answer is 429, takeovers within 30 s, snapshots equal the service, published reports show their last change
  test("a short one breaks nothing, and leaves every company as the service has it", async () => {
    const server = await startPostgres();
    try {
      const { lines, broken, takeovers } = await chaos(short, server);
      expect(broken, lines.join("\n")).toEqual([]);
      expect(new Set(takeovers.map(({ reason }) => reason))).toEqual(new Set(["killed", "lease lost"]));
    } finally {
      await server.end();
    }
  });
});
