import { expect } from "vitest";
import { dayMs, isoTime, minuteMs, systemClock } from "../../../src/base/clock.ts";
import { createFleetMetrics } from "../../../src/fleet/status/fleet-metrics.ts";
import { formatFleetStatus } from "../../../src/fleet/status/format-fleet-status.ts";
import { fleetStatusOutcome, readFleetStatus } from "../../../src/fleet/status/read-fleet-status.ts";
import type { NamedCondition } from "../../../src/status/conditions.ts";
import { readFleetTotals } from "../../../src/fleet/postgres/tables/fleet-view.ts";
import { deliveries, runFleet, sendJob, test, type Fleet } from "../../support/fleet/fleet.ts";
import { healthyFacts } from "../../support/fleet/snapshot-facts.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { DrivenClock } from "../../support/virtual/driven-clock.ts";

const facts = { node: "node-1", version: "1.2.3", role: "all", held: 2, capacity: 50 };

const statusOf = ({ postgres }: Fleet, maxAgeMs: number | null = null, only?: readonly string[]) =>
  readFleetStatus(postgres, maxAgeMs, only);
const kindsOf = (problems: readonly { readonly kind: string }[] = []) => problems.map(({ kind }) => kind);

/** A company with a snapshot that says so, which its owner released unless it is to keep it. */
async function published(fleet: Fleet, company: string, about: object = healthyFacts(), keep = false) {
  const owner = await fleet.owned(company);
  await fleet.publishUpTo(owner, 3, 0, { taken_at: new Date().toISOString(), facts: about });
  if (!keep) await fleet.owners.release(owner);
}

/** All times of a column, or those of some rows, are so long ago. */
const earlier = ({ set }: Fleet, table: string, column: string, ago: string, where?: string) =>
  set(table, `${column} = now() - interval '${ago}'`, where);

describeWithPostgres("the status of a fleet", () => {
  test("of companies that are read and looked after says who has what", async ({ fleet }) => {
    await fleet.nodes.register(facts);
    await fleet.receiving.beat();
    await published(fleet, "acme", healthyFacts(), true);
    await published(fleet, "idle");
    await fleet.publishAnswers({ company: "acme", epoch: 1, node: "node-1" }, null);
    const status = await statusOf(fleet);
    expect(fleetStatusOutcome(status)).toBe("complete");
    const { acme } = status.companies;
    expect(acme).toMatchObject({ node: "node-1", epoch: 1, held: true, problems: [], day_requests: 40 });
    expect(acme).toMatchObject({ waiting_deliveries: 0, waiting_since: null, snapshot_bytes: 1_000 });
    expect(acme).toMatchObject({ seq: 3, last_run: { outcome: "complete" } });
    expect(Date.parse(status.companies["acme"]?.report_at ?? "")).toBeGreaterThan(Date.now() - minuteMs);
    expect(status.companies["idle"]).toMatchObject({ node: null, epoch: 1, held: false, expires_at: null });
    expect(status.nodes).toMatchObject([{ ...facts, lost: false, draining: false }]);
    const text = formatFleetStatus(status).join("\n");
    expect(text).toMatch(/^2 companies, 1 held; snapshots of 2\.0 kB; the last day took 80 requests\n/);
    expect(text).toMatch(/\n {2}node-1: 2 of 50 companies, up \d+s, version 1\.2\.3\n/);
    expect(text).toMatch(/\n {2}Postgres \d+\.\d+.*: .* of 200 connections\n/);
    expect(text).toMatch(/\n {2}acme: at node-1, epoch 1; read 1h 00m ago; snapshot \d+s ago\n/);
    expect(text).toMatch(/\n {2}idle: idle; read 1h 00m ago; snapshot \d+s ago$/);
    await fleet.set("companies", "account = 'of both'");
    const { companies } = await statusOf(fleet);
    expect([companies["acme"]?.rival, companies["idle"]?.rival]).toEqual([null, "acme"]);
    expect(formatFleetStatus(await statusOf(fleet)).at(-1)).toContain("idle while acme is held, which has");
  });

  test("names each company that waits for somebody, and for how long: exit 1", async ({ fleet }) => {
    await fleet.nodes.register(facts);
    await published(fleet, "fine");
    await published(fleet, "lost", healthyFacts(), true);
    await earlier(fleet, "owners", "expires_at", "2 minutes", "company = 'lost'");
    await published(fleet, "unattended");
    await fleet.inbox.add("unattended", deliveries("e1", "e2"));
    await earlier(fleet, "inbox", "received_at", "2 minutes");
    await published(fleet, "late", healthyFacts(), true);
    await fleet.inbox.add("late", deliveries("e1"));
    await earlier(fleet, "inbox", "received_at", "20 minutes", "company = 'late'");
    await fleet.add("never");
    await earlier(fleet, "companies", "added_at", "2 days", "name = 'never'");
    const status = await statusOf(fleet);
    const lines = formatFleetStatus(status);
    for (const [name, kind, line] of [
      ["late", "deliveries_late", /^! late: .*20m/],
      ["lost", "owner_ended", /^! lost: .*2m/],
      ["never", "never_read", /^! never: .*(?:2d 0h|48h)/],
      ["unattended", "deliveries_unattended", /^! unattended: .*2m/],
    ] as const) {
      expect(kindsOf(status.companies[name]?.problems)).toEqual([kind]);
      expect(lines).toContainEqual(expect.stringMatching(line));
      expect(fleetStatusOutcome(await statusOf(fleet, null, [name]))).toBe("difference");
    }
    expect(lines.filter((line) => line.startsWith("! "))).toHaveLength(4);
  });

  // Fault: fleet | the published snapshot of a company is damaged | `fleet status` | exit 1 with the reason and when it is tried again, until it succeeds
  test("shows why no worker can hold a company, and when it is tried again", async ({ fleet }) => {
    await fleet.nodes.register(facts);
    const failure = { why: "the snapshot is damaged", pauseMs: 90_000 };
    await fleet.owners.release(await fleet.owned("acme"), 0, failure);
    const found = await statusOf(fleet);
    const again = /the snapshot is damaged \(tried again in (?:1m )?\d\ds\)$/;
    const message = expect.stringMatching(again) as string;
    expect(found.companies["acme"]?.problems).toMatchObject([{ kind: "job_failed", message }]);
    expect(fleetStatusOutcome(found)).toBe("difference");
    await fleet.set("owners", "claimable_at = now()");
    await published(fleet, "acme");
    expect(fleetStatusOutcome(await statusOf(fleet))).toBe("complete");
  });

  test("takes a handover, a first run and new companies for no problem; shows fifty", async ({ fleet }) => {
    await fleet.nodes.register(facts);
    await earlier(fleet, "nodes", "seen_at", "30 seconds");
    await published(fleet, "acme", healthyFacts(), true);
    await fleet.expire("acme");
    await fleet.inbox.add("acme", deliveries("e1"));
    const inFirstRun = { ...healthyFacts({ whole_at: null, reads_waiting: 3_120 }), last_run: null };
    await published(fleet, "b", inFirstRun, true);
    await fleet.add(...Array.from({ length: 58 }, (_, n) => `c${n}`));
    const status = await statusOf(fleet);
    expect(fleetStatusOutcome(status)).toBe("complete");
    const unended = { last_run: null, whole_at: null, reads_waiting: 3_120, problems: [] };
    expect(status.companies["b"]).toMatchObject(unended);
    const lines = formatFleetStatus(status);
    expect(lines.join("\n")).toMatch(/\n {2}node-1: .*, no heartbeat for \d\ds, version/);
    const unread = /^ {2}b: at node-1, epoch 1; not read whole yet; snapshot \d+s ago, 3,120 reads to go$/;
    expect(lines).toContainEqual(expect.stringMatching(unread));
    expect(lines.filter((line) => /^ {2}c\d/.test(line))).toHaveLength(48);
    expect(lines.at(-1)).toBe("  10 without one not shown: --json has all");
  });

  test.for([
    ["failed", "reading", "partial"],
    ["partial", "records", "partial"],
    ["gap", "events", "complete"],
    ["schema", "2026-11-24", "complete"],
  ] as const)("judges a mirror as `status` does: %s", async ([kind, subject, outcome], { fleet }) => {
    await fleet.nodes.register(facts);
    const condition: NamedCondition = { kind, subject, blocks: false, message: "so it is" };
    await published(fleet, kind, healthyFacts({ conditions: [condition] }));
    await published(fleet, "other");
    const status = await statusOf(fleet, null, [kind]);
    expect(Object.keys(status.companies)).toEqual([kind]);
    expect(status.companies[kind]?.problems).toMatchObject([{ kind, message: "so it is" }]);
    expect(formatFleetStatus(status).at(-1)).toMatch(new RegExp(`^! ${kind}: so it is \\(idle; `));
    expect(fleetStatusOutcome(status)).toBe(outcome);
  });

  test("old data are stale by the company's schedule, and by --max-age", async ({ fleet }) => {
    await fleet.nodes.register(facts);
    await published(fleet, "acme", healthyFacts({ whole_at: isoTime(Date.now() - 2 * dayMs) }));
    const kinds = async (maxAgeMs: number | null = null) =>
      kindsOf((await statusOf(fleet, maxAgeMs)).companies["acme"]?.problems);
    expect(await kinds()).toEqual([]);
    expect(await kinds(dayMs)).toEqual(["stale"]);
    await fleet.companies.put("acme", {}, "15 2 * * *", "Europe/Bratislava");
    expect(await kinds()).toEqual(["stale"]);
    expect(await kinds(3 * dayMs)).toEqual([]);
    // One that nobody can read: no run comes by it, and other companies are shown all the same.
    await fleet.companies.put("acme", {}, "at noon", "Europe/Bratislava");
    expect(await kinds()).toEqual(["stale"]);
  });

  test("is a command that obeys --max-age and --company, and exits 1 with the reasons", async ({ fleet }) => {
    await fleet.add("acme", "beta");
    const run = async (...args: string[]) => {
      const { code, stdout } = await runFleet(fleet, ["status", ...args]);
      return [code, stdout.match(/^! .*/gm)];
    };
    expect(await run()).toEqual([1, ["! no worker runs"]]);
    await fleet.nodes.register(facts);
    expect(await run()).toEqual([0, null]);
    await earlier(fleet, "companies", "added_at", "2 minutes", "name = 'acme'");
    const never =
      /^! acme: never read whole, 2m \d\ds after it was added \(idle; not read whole yet; no snapshot\)$/;
    expect(await run("--max-age", "1m")).toEqual([1, [expect.stringMatching(never)]]);
    expect(await run("--max-age", "1m", "--company", "beta")).toEqual([0, null]);
    await fleet.nodes.drain("node-1");
    expect(await run()).toEqual([1, ["! every worker is drained"]]);
    const unknown = await runFleet(fleet, ["status", "--company", "gamma"]);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("gamma")]);
  });

  test("a fleet without worker or receiver, or whose jobs wait too long, says so", async ({ fleet }) => {
    await sendJob(fleet, "run", 360);
    await published(fleet, "acme");
    await fleet.nodes.register(facts);
    await fleet.receiving.beat();
    await earlier(fleet, "nodes", "seen_at", "5 minutes");
    await fleet.nodes.register({ ...facts, node: "front", role: "receive" });
    await earlier(fleet, "receiving", "seen_at", "3 minutes");
    const status = await statusOf(fleet);
    expect(kindsOf(status.problems)).toEqual(["no_worker", "no_receiver", "jobs_wait"]);
    expect(fleetStatusOutcome(status)).toBe("difference");
    const text = formatFleetStatus(status).join("\n");
    expect(text).toMatch(/\n! no worker runs\n! no receiver has answered deliveries for 3m \d\ds\n/);
    expect(text).toMatch(/\n! node-1: 2 of 50 companies, no heartbeat for 5m \d\ds, version 1\.2\.3\n/);
    expect(text).toMatch(/\n {2}jobs that no worker has taken: 1 run \(the oldest for \dm \d\ds\)\n/);
    const metrics = (await createFleetMetrics(fleet.postgres, systemClock)()).join("\n");
    expect(metrics).toContain('fintoro_mirror_fleet_jobs_waiting{kind="run"} 1\n');
    expect(metrics).toMatch(/fleet_job_age_seconds\{kind="run"\} [34]\d\d/);
  });

  test("never having had a receiver is wrong where a company has a secret", async ({ fleet }) => {
    await fleet.nodes.register({ ...facts, role: "work" });
    await published(fleet, "acme");
    const quiet = await statusOf(fleet);
    expect(quiet.problems).toEqual([]);
    expect(formatFleetStatus(quiet).join("\n")).toContain("\n  deliveries: no receiver runs, none received");
    await fleet.receiving.beat();
    // Until the last one ended, and not until now.
    await fleet.set("receiving", "started_at = now() - interval '3h', seen_at = now() - interval '1h'");
    const silent = formatFleetStatus(await statusOf(fleet)).join("\n");
    expect(silent).toContain("\n  deliveries: no receiver runs, received for 2h 00m; none waits");
    await fleet.set("receiving", "seen_at = now() - interval '2 days'");
    const secrets = ["${env:WEBHOOK_SECRET}"];
    await fleet.companies.put("acme", { companies: { acme: { webhook: { secrets } } } });
    expect(kindsOf((await statusOf(fleet)).problems)).toEqual(["no_receiver"]);
    await fleet.nodes.register({ ...facts, node: "front", role: "receive" });
    const received = await statusOf(fleet);
    expect(received.problems).toEqual([]);
    const front = /\n {2}front: receives, up \d+s, version 1\.2\.3\n/;
    expect(formatFleetStatus(received).join("\n")).toMatch(front);
  });

  test("is read with as many statements for 60 companies as for one", async ({ fleet }) => {
    const countOf = async () => {
      const { postgres, count } = fleet.counting();
      await readFleetStatus(postgres, null);
      return count();
    };
    await published(fleet, "acme");
    const forOne = await countOf();
    for (let n = 0; n < 60; n++) await fleet.inbox.add(`c${n}`, deliveries("e1"));
    await fleet.add(...Array.from({ length: 60 }, (_, n) => `c${n}`));
    expect(await countOf()).toBe(forOne);
    expect(forOne).toBeLessThan(9);
  });
});

describeWithPostgres("the sums of a fleet for metrics", () => {
  test("count companies that are held, lost, waiting and unattended", async ({ fleet }) => {
    await fleet.owned("held");
    await fleet.owned("lost");
    await fleet.expire("lost");
    await fleet.add("waiting");
    await fleet.inbox.add("waiting", deliveries("e1"));
    await fleet.inbox.add("held", deliveries("e1"));
    await earlier(fleet, "inbox", "received_at", "90 s", "company = 'waiting'");
    const owner = await fleet.owned("drained");
    await fleet.inbox.add("drained", deliveries("old"));
    await fleet.publishUpTo(owner, 1, 1);
    await earlier(fleet, "inbox", "received_at", "1 hour", "company = 'drained'");
    await fleet.inbox.add("drained", deliveries("new"));
    await fleet.add("removed");
    await fleet.inbox.add("removed", deliveries("e1"));
    await fleet.companies.remove("removed");
    const { oldestWaitingMs, ...counts } = await readFleetTotals(fleet.postgres);
    expect(counts).toEqual({ companies: 4, held: 2, ended: 1, waiting: 3, unattended: 1 });
    expect(oldestWaitingMs).toBeGreaterThanOrEqual(90_000);
    // What was drained had come an hour ago.
    expect(oldestWaitingMs).toBeLessThan(3_600_000);
  });

  test("name no company, are read every ten seconds, and left out without Postgres", async ({ fleet }) => {
    await fleet.owned("secret-name");
    const clock = new DrivenClock();
    const metrics = createFleetMetrics(fleet.postgres, clock);
    const first = (await metrics()).join("\n");
    expect(first).toContain('fintoro_mirror_fleet_companies{state="held"} 1\n');
    expect(first).not.toContain("secret-name");
    await fleet.add("another");
    clock.wind(9_000);
    expect((await metrics()).join("\n")).toBe(first);
    clock.wind(1_000);
    expect((await metrics()).join("\n")).toContain('fintoro_mirror_fleet_companies{state="idle"} 1\n');
    await fleet.postgres.close();
    clock.wind(10_000);
    expect(await metrics()).toEqual([]);
  });
});
