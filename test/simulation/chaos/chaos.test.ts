import { expect, test } from "vitest";
import { describeWithPostgres } from "../../support/postgres.ts";
import { startPostgres } from "../../support/postgres-server.ts";
import { chaos, type ChaosPlan } from "./chaos.ts";

/** As few as show all of it: a kill, a stop that is longer than a lease, and Postgres that dies. */
const short: ChaosPlan = {
  seed: 1,
  companies: 4,
  records: 4,
  roles: ["all", "all"],
  budget: { limit: 10, windowMs: 5_000 },
  config: ["resources: { include: [clients, invoices, orders] }"],
  snapshotEvery: "2s",
  retryScale: 0.01,
  // Neither can hold all: both hold some.
  capacity: 3,
  disturbances: [
    { atMs: 1_000, lastsMs: 500, what: "kill", node: 0 },
    { atMs: 4_000, lastsMs: 0, what: "postgres", mode: "immediate" },
    { atMs: 6_000, lastsMs: 16_000, what: "stop", node: 1 },
  ],
  durationMs: 23_000,
  changeEveryMs: 2_000,
  longestRestMs: 30_000,
};

describeWithPostgres("a fleet under chaos", () => {
  // Fault: process | a worker killed, another one stopped for longer than its lease, Postgres killed, while companies change | two processes of `worker`, and Postgres | no epoch has two writers, no delivery is lost, no answer is 429, takeovers within 30 s, snapshots equal the service
  test("a short one breaks nothing, and leaves every company as the service has it", async () => {
    const server = await startPostgres();
    try {
      const { lines, broken, takeovers } = await chaos(short, server);
      expect(broken, lines.join("\n")).toEqual([]);
      expect(new Set(takeovers.map(({ reason }) => reason))).toEqual(new Set(["killed", "lease lost"]));
    } finally {
      await server.end();
    }
  }, 120_000);
});
