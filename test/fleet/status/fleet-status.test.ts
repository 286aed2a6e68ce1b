import { expect, test } from "vitest";
import { isoTime } from "../../../src/base/clock.ts";
import type { Postgres } from "../../../src/fleet/postgres/connection.ts";
import { formatFleetStatus } from "../../../src/fleet/status/format-fleet-status.ts";
import { fleetStatusOutcome, readFleetStatus } from "../../../src/fleet/status/read-fleet-status.ts";
import type { NamedCondition } from "../../../src/status/conditions.ts";
import {
  changesUpTo,
  deliveries,
  openFleet,
  publishNoReports,
  sendJob,
  snapshotOf,
  type Fleet,
} from "../../support/fleet/fleet.ts";
import { healthyFacts } from "../../support/fleet/snapshot-facts.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;
const facts = { node: "node-1", version: "1.2.3", role: "all", held: 2, capacity: 50 };

function statusOf({ postgres }: Fleet, maxAgeMs: number | null = null, only?: readonly string[]) {
  return readFleetStatus(postgres, maxAgeMs, only);
}

/** A company with a snapshot that says so, which its owner released unless it is to keep it. */
async function published(
  fleet: Fleet,
  company: string,
  about: object = healthyFacts(),
  keep = false,
): Promise<void> {
  const owner = await fleet.owned(company);
  const snapshot = { ...snapshotOf(3), takenAtMs: Date.now(), facts: { ...about } };
  await fleet.snapshots.publish(owner, snapshot, changesUpTo(3));
  if (!keep) await fleet.owners.release(owner);
}

/** All times of a column are so long ago. */
async function earlier({ postgres }: Fleet, table: string, column: string, ago: string): Promise<void> {
  await postgres.query(`UPDATE fintoro_mirror.${table} SET ${column} = now() - interval '${ago}'`);
}

describeWithPostgres("the status of a fleet", () => {
  test("of companies that are read and looked after is complete, and says who has what", async () => {
    const fleet = await openFleet();
    await fleet.nodes.register(facts);
    await fleet.receiving.beat();
    await published(fleet, "acme", healthyFacts(), true);
    await published(fleet, "idle");
    await publishNoReports(fleet, { company: "acme", epoch: 1, node: "node-1" });
    const status = await statusOf(fleet);
    expect(fleetStatusOutcome(status)).toBe("complete");
    expect(status.companies["acme"]).toMatchObject({
      node: "node-1",
      epoch: 1,
      held: true,
      waiting_deliveries: 0,
      waiting_since: null,
      snapshot_bytes: 1_000,
      seq: 3,
      last_run: { outcome: "complete" },
      day_requests: 40,
      problems: [],
    });
    expect(Date.parse(status.companies["acme"]?.report_at ?? "")).toBeGreaterThan(Date.now() - minuteMs);
    expect(status.companies["idle"]).toMatchObject({ node: null, epoch: 1, held: false, expires_at: null });
    expect(status.nodes).toMatchObject([{ ...facts, lost: false, draining: false }]);
    const text = formatFleetStatus(status);
    expect(text[0]).toBe("2 companies, 1 held; snapshots of 2.0 kB; the last day took 80 requests");
    expect(text.join("\n")).toMatch(/\n {2}node-1: 2 of 50 companies, up \ds, version 1\.2\.3\n/);
    expect(text.join("\n")).toMatch(/\n {2}Postgres \d+\.\d+.*: .* of 200 connections\n/);
    expect(text.at(-2)).toMatch(/^ {2}acme: at node-1, epoch 1; read 1h 00m ago; snapshot \ds ago$/);
    expect(text.at(-1)).toMatch(/^ {2}idle: idle; read 1h 00m ago; snapshot \ds ago$/);
  });

  test("shows how far a first run has come", async () => {
    const fleet = await openFleet();
    await published(fleet, "acme", healthyFacts({ whole_at: null, reads_waiting: 3_120 }), true);
    const status = await statusOf(fleet);
    expect(status.companies["acme"]).toMatchObject({ reads_waiting: 3_120 });
    expect(formatFleetStatus(status).at(-1)).toBe(
      "  acme: at node-1, epoch 1; not read whole yet; snapshot 0s ago, 3,120 reads to go",
    );
  });

  test("says for how long a node has been silent before it counts as lost", async () => {
    const fleet = await openFleet();
    await fleet.nodes.register(facts);
    await earlier(fleet, "nodes", "seen_at", "30 seconds");
    const status = await statusOf(fleet);
    expect(status.nodes).toMatchObject([{ lost: false }]);
    expect(formatFleetStatus(status).join("\n")).toMatch(/\n {2}node-1: .*, no heartbeat for 3\ds, version/);
  });

  test.each([
    [
      "whose node was lost",
      "owner_ended",
      async (fleet: Fleet) => {
        await published(fleet, "acme", healthyFacts(), true);
        await earlier(fleet, "owners", "expires_at", "2 minutes");
      },
    ],
    [
      "whose deliveries nobody drains",
      "deliveries_unattended",
      async (fleet: Fleet) => {
        await published(fleet, "acme");
        await fleet.inbox.add("acme", deliveries("e1", "e2"));
        await earlier(fleet, "inbox", "received_at", "2 minutes");
      },
    ],
    [
      "whose owner publishes no snapshot",
      "deliveries_late",
      async (fleet: Fleet) => {
        await published(fleet, "acme", healthyFacts(), true);
        await fleet.inbox.add("acme", deliveries("e1"));
        await earlier(fleet, "inbox", "received_at", "20 minutes");
      },
    ],
    [
      "that was never read",
      "never_read",
      async (fleet: Fleet) => {
        await fleet.add("acme");
        await earlier(fleet, "companies", "added_at", "2 days");
      },
    ],
  ] as const)("a company %s ends it with exit 1", async (_, kind, arrange) => {
    const fleet = await openFleet();
    await fleet.nodes.register(facts);
    await published(fleet, "fine");
    await arrange(fleet);
    const status = await statusOf(fleet);
    expect(status.companies["acme"]?.problems.map((one) => one.kind)).toEqual([kind]);
    expect(fleetStatusOutcome(status)).toBe("difference");
    const lines = formatFleetStatus(status);
    expect(lines.filter((line) => line.startsWith("! "))).toEqual([
      expect.stringMatching(/^! acme: .*(?:2m|20m|2d 0h|48h)/) as string,
    ]);
  });

  test("takes a handover of a few seconds for no problem, and a new company neither", async () => {
    const fleet = await openFleet();
    await fleet.nodes.register(facts);
    await published(fleet, "acme", healthyFacts(), true);
    await fleet.expire("acme");
    await fleet.inbox.add("acme", deliveries("e1"));
    await fleet.add("new");
    expect(fleetStatusOutcome(await statusOf(fleet))).toBe("complete");
  });

  test.each([
    ["failed", "reading", "partial"],
    ["partial", "records", "partial"],
    ["gap", "events", "complete"],
    ["schema", "2026-11-24", "complete"],
  ] as const)(
    "a mirror with the condition `%s %s` ends it with %s, as `status` does",
    async (kind, subject, outcome) => {
      const fleet = await openFleet();
      await fleet.nodes.register(facts);
      const condition: NamedCondition = { kind, subject, blocks: false, message: `${kind} it is` };
      await published(fleet, "acme", healthyFacts({ conditions: [condition] }));
      const status = await statusOf(fleet);
      expect(status.companies["acme"]?.problems).toMatchObject([{ kind, message: `${kind} it is` }]);
      expect(formatFleetStatus(status).at(-1)).toMatch(new RegExp(`^! acme: ${kind} it is \\(idle; `));
      expect(fleetStatusOutcome(status)).toBe(outcome);
    },
  );

  test("old data are stale by the company's schedule, and by --max-age", async () => {
    const fleet = await openFleet();
    await fleet.nodes.register(facts);
    await published(fleet, "acme", healthyFacts({ whole_at: isoTime(Date.now() - 2 * dayMs) }));
    const kinds = async (maxAgeMs: number | null = null) =>
      (await statusOf(fleet, maxAgeMs)).companies["acme"]?.problems.map((one) => one.kind);
    expect(await kinds()).toEqual([]);
    expect(await kinds(dayMs)).toEqual(["stale"]);
    await fleet.companies.put("acme", {}, "15 2 * * *", "Europe/Bratislava");
    expect(await kinds()).toEqual(["stale"]);
    expect(await kinds(3 * dayMs)).toEqual([]);
  });

  test("a fleet without a worker or a receiver, or whose jobs wait too long, is not silent", async () => {
    const fleet = await openFleet();
    await sendJob(fleet, "run", 360);
    await published(fleet, "acme");
    await fleet.nodes.register(facts);
    await fleet.receiving.beat();
    await earlier(fleet, "nodes", "seen_at", "5 minutes");
    await fleet.nodes.register({ ...facts, node: "front", role: "receive" });
    await earlier(fleet, "receiving", "seen_at", "3 minutes");
    const status = await statusOf(fleet);
    expect(status.problems.map(({ kind }) => kind)).toEqual(["no_worker", "no_receiver", "jobs_wait"]);
    expect(fleetStatusOutcome(status)).toBe("difference");
    const text = formatFleetStatus(status).join("\n");
    expect(text).toContain("\n! no worker runs\n! no receiver has answered deliveries for 3m 00s\n");
    expect(text).toContain("\n! node-1: 2 of 50 companies, no heartbeat for 5m 00s, version 1.2.3\n");
    expect(text).toMatch(/\n {2}jobs that no worker has taken: 1 run \(the oldest for 6m \d\ds\)\n/);
  });

  test("a fleet that never had a receiver says so, and it is wrong where a company has a secret for deliveries", async () => {
    const fleet = await openFleet();
    await fleet.nodes.register({ ...facts, role: "work" });
    await published(fleet, "acme");
    const quiet = await statusOf(fleet);
    expect(quiet.problems).toEqual([]);
    expect(formatFleetStatus(quiet).join("\n")).toContain("\n  deliveries: no receiver runs, none received");
    const secrets = ["${env:WEBHOOK_SECRET}"];
    await fleet.companies.put("acme", { companies: { acme: { webhook: { secrets } } } });
    expect((await statusOf(fleet)).problems.map(({ kind }) => kind)).toEqual(["no_receiver"]);
    await fleet.nodes.register({ ...facts, node: "front", role: "receive" });
    const received = await statusOf(fleet);
    expect(received.problems).toEqual([]);
    expect(formatFleetStatus(received).join("\n")).toContain("\n  front: receives, up 0s, version 1.2.3\n");
  });

  test("is read with as many statements for 60 companies as for one", async () => {
    const fleet = await openFleet();
    const countOf = async () => {
      let statements = 0;
      const counting: Postgres = {
        ...fleet.postgres,
        transaction: (step) => fleet.postgres.transaction(step),
        close: () => fleet.postgres.close(),
        query: (text, values) => {
          statements++;
          return fleet.postgres.query(text, values);
        },
      };
      await readFleetStatus(counting, null);
      return statements;
    };
    await published(fleet, "acme");
    const forOne = await countOf();
    for (let n = 0; n < 60; n++) await fleet.inbox.add(`c${n}`, deliveries("e1"));
    await fleet.add(...Array.from({ length: 60 }, (_, n) => `c${n}`));
    expect(await countOf()).toBe(forOne);
    expect(forOne).toBeLessThan(9);
  });

  test("of some companies is judged by them and by the fleet alone", async () => {
    const fleet = await openFleet();
    await fleet.nodes.register(facts);
    await published(fleet, "acme");
    await fleet.add("never");
    await earlier(fleet, "companies", "added_at", "2 days");
    const status = await statusOf(fleet, null, ["acme"]);
    expect(Object.keys(status.companies)).toEqual(["acme"]);
    expect(fleetStatusOutcome(status)).toBe("complete");
  });

  test("leaves quiet companies out where there are many, and says how many", async () => {
    const fleet = await openFleet();
    await fleet.nodes.register(facts);
    await fleet.add(...Array.from({ length: 60 }, (_, n) => `c${n}`));
    const lines = formatFleetStatus(await statusOf(fleet));
    expect(lines.filter((line) => /^ {2}c\d/.test(line))).toHaveLength(50);
    expect(lines.at(-1)).toBe("  10 without one not shown: --json has all");
  });
});
