import { expect, onTestFinished, test } from "vitest";
import { hourMs, minuteMs } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/logger.ts";
import { startJobEngine, type JobKind } from "../../src/fleet/jobs/job-engine.ts";
import { CompaniesTable } from "../../src/fleet/postgres/tables/companies-table.ts";
import { connectNode, describeWithPostgres, freshDatabase } from "../support/postgres/databases.ts";
import { eventually } from "../support/eventually.ts";

/** The engine of a process on a database of its own. `join` starts another one there. */
async function anEngine(isWorker = false) {
  const postgres = await connectNode(await freshDatabase());
  const join = async (takesPart: boolean) => {
    const engine = await startJobEngine(postgres, silentLog, takesPart);
    onTestFinished(() => engine.stop());
    return engine;
  };
  const engine = await join(isWorker);
  const taken = async (kind: JobKind) => {
    const jobs = await engine.fetch(kind, 5_000);
    for (const job of jobs) await engine.complete(job);
    return jobs.map(({ company }) => company).toSorted();
  };
  return { engine, postgres, join, taken };
}

describeWithPostgres("the jobs of a fleet", () => {
  test("are exclusive for each company and kind, as long as they wait and as long as they are taken", async () => {
    const { engine, taken } = await anEngine();
    for (let sent = 0; sent < 2; sent++) await engine.send("run", ["acme", "beta"]);
    await engine.send("events", ["acme"]);
    const jobs = await engine.fetch("run", 10);
    expect(jobs.map(({ company }) => company).toSorted()).toEqual(["acme", "beta"]);
    await engine.send("run", ["acme", "beta", "gamma"]);
    expect(await taken("run")).toEqual(["gamma"]);
    for (const job of jobs) await engine.complete(job);
    await engine.send("run", ["acme"]);
    expect([await taken("run"), await taken("events")]).toEqual([["acme"], ["acme"]]);
  });

  test("are there when the transaction is committed that sends them, and not otherwise", async () => {
    const { engine, postgres, taken } = await anEngine();
    const failing = postgres.transaction(async (sql) => {
      await engine.send("events", ["acme"], sql);
      throw new Error("the deliveries could not be stored");
    });
    await expect(failing).rejects.toThrow("could not be stored");
    expect(await taken("events")).toEqual([]);
    await postgres.transaction((sql) => engine.send("events", ["acme"], sql));
    expect(await taken("events")).toEqual(["acme"]);
  });

  test("come back when they are not completed within ten seconds", async () => {
    const { engine, postgres } = await anEngine(true);
    await engine.send("events", ["acme"]);
    const [lost] = await engine.fetch("events", 1);
    if (!lost) throw new Error("there is one");
    const lostAfter = await postgres.query("SELECT heartbeat_seconds FROM pgboss.job WHERE name = 'events'");
    expect(lostAfter).toEqual([{ heartbeat_seconds: 10 }]);
    await eventually(async () => {
      const [found] = await engine.fetch("events", 1);
      return found?.retryCount === 1;
    }, "the job, again");
    // Who lost it cannot complete it.
    await engine.complete(lost);
    await engine.send("events", ["acme"]);
    expect(await engine.fetch("events", 2)).toEqual([]);
  });

  test("for later are moved by a newer one, and hold off no job of another kind", async () => {
    const { engine, taken } = await anEngine();
    await engine.sendLater("acme", 3_600_000);
    await engine.send("events", ["acme"]);
    expect([await taken("later"), await taken("events")]).toEqual([[], ["acme"]]);
    await engine.sendLater("acme", 0);
    expect(await taken("later")).toEqual(["acme"]);
  });
});

/** A pattern of one minute of the day, as a clock in this zone shows it so long ago. */
function minuteAgo(agoMs: number, timeZone: string): string {
  const text = new Date(Date.now() - agoMs).toLocaleTimeString("sv", { timeZone, timeStyle: "short" });
  const [hour, minute] = text.split(":").map(Number);
  return `${minute} ${hour} * * *`;
}

const zone = "Asia/Kathmandu";

/** Schedules since yesterday, and the last pass of any worker three hours ago. */
async function schedules(companies: Record<string, readonly [pattern: string, timezone: string]>) {
  const fleet = await anEngine();
  const table = new CompaniesTable(fleet.postgres);
  for (const [name, [pattern, timezone]] of Object.entries(companies)) {
    await fleet.engine.schedule(pattern, timezone);
    await table.put(name, {}, pattern, timezone);
  }
  await fleet.postgres.query(`UPDATE pgboss.schedule SET created_on = now() - interval '1 day';
    UPDATE pgboss.version SET cron_on = now() - interval '3 hours'`);
  return { ...fleet, table };
}

describeWithPostgres("schedules", () => {
  test("send one job to each company in its time zone, thousands in one pass, however many workers start after however many moments", async () => {
    const { join, taken, table, postgres } = await schedules({
      tonight: [minuteAgo(hourMs, zone), zone],
      likewise: [minuteAgo(hourMs, zone), zone],
      elsewhere: [minuteAgo(hourMs, zone), "America/Anchorage"],
      often: [`${new Date(Date.now() - 20 * minuteMs).getUTCMinutes()} * * * *`, "UTC"],
      left: [minuteAgo(hourMs, zone), zone],
    });
    await table.remove("left");
    await postgres.query(`INSERT INTO fintoro_mirror.companies (name, config, schedule, timezone)
      SELECT 'company-' || n, config, schedule, timezone FROM fintoro_mirror.companies, generate_series(1, 2500) n
      WHERE name = 'tonight'`);
    for (let workers = 0; workers < 3; workers++) await join(true);
    const sent: string[] = [];
    await eventually(async () => {
      sent.push(...(await taken("run")));
      return sent.length >= 2_503;
    }, "jobs");
    const named = sent.filter((name) => !name.startsWith("company-")).toSorted();
    expect([named, sent.length]).toEqual([["likewise", "often", "tonight"], 2_503]);
  });
});

describeWithPostgres("what one worker of all does every minute", () => {
  test("is done by one at a time, and again after it failed, by whoever is left", async () => {
    const { join, postgres } = await anEngine();
    let [under, most, done] = [0, 0, 0];
    const step = async () => {
      most = Math.max(most, ++under);
      await postgres.query("SELECT 1");
      under--;
      if (++done === 1) throw new Error("it failed");
    };
    const engines = [await join(true), await join(true), await join(true)];
    await Promise.all(engines.map((engine) => engine.everyMinute("minutely", step)));
    // As if a minute were over.
    const isDone = async (times: number) => {
      await postgres.query(`UPDATE pgboss.job SET singleton_on = singleton_on - interval '1 minute';
        UPDATE pgboss.version SET cron_on = now() - interval '1 hour'`);
      return done >= times;
    };
    await eventually(() => isDone(1), "the step");
    for (const engine of engines.slice(1)) await engine.stop();
    await eventually(() => isDone(2), "the step, again");
    expect(most).toBe(1);
  });
});
