import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/logger.ts";
import { NodeLoops } from "../../src/fleet/worker/node-loops.ts";
import { JobEngine, maintainEveryMs, type Job, type JobKind } from "../../src/fleet/jobs/job-engine.ts";
import type { Postgres } from "../../src/fleet/postgres/connection.ts";
import { readWaitingJobs } from "../../src/fleet/jobs/job-facts.ts";
import { recordingLog } from "../support/terminal/terminal.ts";
import { connectNode, describeWithPostgres, freshDatabase } from "../support/postgres/databases.ts";
import { eventually } from "../support/eventually.ts";

/** The engine of a node on a database of its own, or on that of another one; counts its statements. */
async function anEngine(url?: string) {
  const postgres = await connectNode(url ?? (await freshDatabase()));
  const { log, records } = recordingLog();
  let statements = 0;
  const counted: Postgres = {
    query: (text, values) => {
      statements++;
      return postgres.query(text, values);
    },
    transaction: (step) => postgres.transaction(step),
    close: () => postgres.close(),
  };
  const engine = await JobEngine.start({ postgres: counted, log });
  onTestFinished(() => engine.stop());
  /** How many statements a step takes. */
  const cost = async (step: () => Promise<void>) => {
    const before = statements;
    await step();
    return statements - before;
  };
  return { engine, postgres, records, cost };
}

/** As a node does until the test ends. */
function keepMaintaining(engine: JobEngine): void {
  const closing = new AbortController();
  const step = { what: "a pass", everyMs: () => maintainEveryMs, step: () => engine.maintain() };
  void new NodeLoops(systemClock, silentLog).repeat(step, closing.signal);
  onTestFinished(() => closing.abort());
}

async function fetchOne(engine: JobEngine, kind: JobKind): Promise<Job> {
  let found: readonly Job[] = [];
  await eventually(async () => (found = await engine.fetch(kind, 1)).length === 1, `a job ${kind}`);
  const [job] = found;
  if (!job) throw new Error("there is one");
  return job;
}

describeWithPostgres("the jobs of a fleet", () => {
  test("are exclusive for each company and kind, as long as they wait and as long as they are taken", async () => {
    const { engine } = await anEngine();
    expect(await engine.send("run", "acme")).toBe(true);
    expect(await engine.send("run", "acme")).toBe(false);
    expect([await engine.send("events", "acme"), await engine.send("run", "beta")]).toEqual([true, true]);
    const jobs = await engine.fetch("run", 10);
    expect(jobs.map(({ company }) => company).toSorted()).toEqual(["acme", "beta"]);
    await engine.sendAll("run", ["acme", "beta", "gamma"]);
    const more = await engine.fetch("run", 10);
    expect(more.map(({ company }) => company)).toEqual(["gamma"]);
    await engine.complete(jobs);
    expect(await engine.send("run", "acme")).toBe(true);
  });

  test("are due as long as they can be taken, and when they come back", async () => {
    const { engine } = await anEngine();
    await engine.sendLater("acme", 3_600_000);
    expect(await engine.dueKinds()).toEqual([]);
    await engine.sendLater("acme", 0);
    await engine.sendAll("run", ["acme", "beta"]);
    expect(await engine.dueKinds()).toEqual(["run", "later"]);
    const jobs = [...(await engine.fetch("run", 1)), ...(await engine.fetch("later", 1))];
    expect(await engine.dueKinds()).toEqual(["run"]);
    jobs.push(...(await engine.fetch("run", 1)));
    expect(await engine.dueKinds()).toEqual([]);
    const [first, ...others] = jobs;
    if (!first) throw new Error("there is one");
    await engine.fail(first, "no room", 0);
    await engine.complete(others);
    expect(await engine.dueKinds()).toEqual(["run"]);
  });

  test("are there when the transaction is committed that sends them, and not otherwise", async () => {
    const { engine, postgres } = await anEngine();
    const failing = postgres.transaction(async (sql) => {
      await engine.sendWithin(sql, "events", "acme");
      throw new Error("the deliveries could not be stored");
    });
    await expect(failing).rejects.toThrow("could not be stored");
    expect(await engine.fetch("events", 1)).toEqual([]);
    await postgres.transaction((sql) => engine.sendWithin(sql, "events", "acme"));
    expect(await engine.fetch("events", 1)).toHaveLength(1);
  });

  test("come back within 20 s when they are not touched any more", async () => {
    const { engine } = await anEngine();
    keepMaintaining(engine);
    await engine.sendAll("events", ["lost", "kept"]);
    const jobs = await engine.fetch("events", 2);
    const kept = jobs.filter(({ company }) => company === "kept");
    const lost = jobs.find(({ company }) => company === "lost");
    const touching = setInterval(() => void engine.touch(kept).catch(() => undefined), 1_000);
    onTestFinished(() => clearInterval(touching));
    expect(await fetchOne(engine, "events")).toEqual({ ...lost, retryCount: 1 });
    // Who lost it can neither complete it nor keep it.
    await engine.complete(lost ? [lost] : []);
    await engine.touch(lost ? [lost] : []);
    expect(await engine.send("events", "lost")).toBe(false);
    expect(await engine.fetch("events", 2)).toEqual([]);
  });

  test("are maintained by one process at a time: the others find that out in one statement each", async () => {
    const url = await freshDatabase();
    const [one, two, three] = [await anEngine(url), await anEngine(url), await anEngine(url)];
    expect(await one.cost(() => one.engine.maintain())).toBeGreaterThan(3);
    for (const { engine, cost } of [one, two, three]) expect(await cost(() => engine.maintain())).toBe(1);
    await pause(maintainEveryMs);
    expect(await three.cost(() => three.engine.maintain())).toBeGreaterThan(3);
    expect(await one.cost(() => one.engine.maintain())).toBe(1);
  });

  test("are taken and sent also where they cannot be maintained, which is logged", async () => {
    const { engine, postgres, records } = await anEngine();
    await postgres.query("ALTER TABLE pgboss.queue RENAME COLUMN maintain_on TO other");
    await engine.maintain();
    expect(records()).toMatchObject([{ level: "warn", msg: "the job engine failed; it goes on" }]);
    expect(await engine.send("run", "acme")).toBe(true);
    expect(await engine.fetch("run", 1)).toHaveLength(1);
  });

  test("that fail wait as long as they are asked to, and are set aside after ten more attempts", async () => {
    const { engine } = await anEngine();
    await engine.send("run", "acme");
    const [first] = await engine.fetch("run", 1);
    if (!first) throw new Error("there is one");
    await engine.fail(first, "no room", 1_500);
    expect(await engine.fetch("run", 1)).toEqual([]);
    let attempts = 1;
    for (
      let job: Job | undefined = await fetchOne(engine, "run");
      job;
      [job] = await engine.fetch("run", 1)
    ) {
      attempts++;
      await engine.fail(job, "no room", 0);
    }
    expect(attempts).toBe(11);
    expect(await engine.setAside(["acme", "beta"], 60_000)).toEqual(new Set(["acme"]));
    await pause(20);
    expect(await engine.setAside(["acme"], 10)).toEqual(new Set());
    expect(await engine.send("run", "acme")).toBe(true);
  });

  test("for later are moved by a newer one, and hold off no job of another kind", async () => {
    const { engine, postgres } = await anEngine();
    await engine.sendLater("acme", 3_600_000);
    expect(await engine.send("events", "acme")).toBe(true);
    expect(await readWaitingJobs(postgres)).toContainEqual(
      expect.objectContaining({ kind: "later", count: 0 }),
    );
    expect(await readWaitingJobs(postgres)).toContainEqual(
      expect.objectContaining({ kind: "events", count: 1 }),
    );
    await engine.sendLater("acme", 0);
    expect((await fetchOne(engine, "later")).company).toBe("acme");
  });

  test("cannot be scheduled by a pattern that is none", async () => {
    const { engine } = await anEngine();
    await expect(engine.schedule("acme", "every night", "UTC")).rejects.toThrow(
      '"every night" cannot be scheduled in Postgres',
    );
  });

  test("go on after Postgres ended all connections, and nothing of that ends the process", async () => {
    const { engine, postgres, records } = await anEngine();
    keepMaintaining(engine);
    const [row] = await postgres.query<{ name: string }>("SELECT current_database() AS name");
    const others =
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()";
    for (let i = 0; i < 20; i++, await pause(100))
      await postgres.query(others, [row?.name]).catch(() => undefined);
    await eventually(() => engine.send("run", "acme").catch(() => false), "a job that can be sent");
    expect(await engine.fetch("run", 1)).toHaveLength(1);
    expect(records().filter(({ level }) => level === "error")).toEqual([]);
  });
});
