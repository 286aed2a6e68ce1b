import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../src/base/logger.ts";
import { JobEngine } from "../../src/fleet/jobs/job-engine.ts";
import { ScheduledRuns } from "../../src/fleet/jobs/scheduled-runs.ts";
import { recordingLog } from "../support/terminal/terminal.ts";
import { connectNode, describeWithPostgres, freshDatabase } from "../support/postgres/databases.ts";

const zone = "Asia/Kathmandu";

/** The pattern of one minute of the day, as a clock in this zone shows it so long ago. */
function minuteAgo(agoMs: number, timeZone = zone): string {
  const text = new Date(Date.now() - agoMs).toLocaleTimeString("sv", { timeZone, timeStyle: "short" });
  const [hour, minute] = text.split(":").map(Number);
  return `${minute} ${hour} * * *`;
}

const hourMs = 3_600_000;

const isAway = () => Promise.reject(new Error("Postgres is away"));

/** Schedules of a fleet whose last pass was three hours ago. */
async function aSchedule() {
  const postgres = await connectNode(await freshDatabase());
  const { log, records } = recordingLog();
  const engine = await JobEngine.start({ postgres, log: silentLog });
  onTestFinished(() => engine.stop());
  const lastPass = async (agoSeconds: number) => {
    const at = "now() - $1::int * interval '1 second'";
    await postgres.query(`UPDATE pgboss.version SET cron_on = ${at}`, [agoSeconds]);
  };
  await lastPass(3 * 3_600);
  /** Takes the jobs that were sent. */
  const sent = async () => {
    const jobs = await engine.fetch("run", 5_000);
    await engine.complete(jobs);
    return jobs.map(({ company }) => company).toSorted();
  };
  const node = () => new ScheduledRuns({ postgres, engine, log });
  return { postgres, engine, node, lastPass, sent, records };
}

describeWithPostgres("schedules", () => {
  test("send one job in their time zone for all moments in which no node ran", async () => {
    const { engine, node, lastPass, sent } = await aSchedule();
    await engine.schedule("tonight", minuteAgo(hourMs), zone);
    await engine.schedule("elsewhere", minuteAgo(hourMs), "America/Anchorage");
    await engine.schedule("often", "*/10 * * * *", "UTC");
    await engine.schedule("left", minuteAgo(hourMs), zone);
    await engine.unschedule("left");
    const one = node();
    await one.send();
    expect(await sent()).toEqual(["often", "tonight"]);
    await lastPass(2 * 3_600);
    await one.send();
    expect(await sent()).toEqual(["often", "tonight"]);
  });

  test("send it once, however many nodes look at the same time", async () => {
    const { engine, node, lastPass, sent } = await aSchedule();
    await engine.schedule("tonight", minuteAgo(hourMs), zone);
    const nodes = Array.from({ length: 4 }, node);
    await Promise.all(nodes.map((one) => one.send()));
    expect(await sent()).toEqual(["tonight"]);
    for (const one of nodes) await one.send();
    await lastPass(20);
    for (const one of nodes) await one.send();
    expect(await sent()).toEqual([]);
  });

  test("that come again are sent again, by any node", async () => {
    const { engine, node, lastPass, sent } = await aSchedule();
    const [one, other] = [node(), node()];
    await engine.schedule("often", "* * * * *", "UTC");
    for (const each of [one, other, one, other]) {
      await lastPass(100);
      await each.send();
      expect(await sent()).toEqual(["often"]);
    }
  });

  test("of thousands of companies come in one pass", async () => {
    const { engine, postgres, node, sent } = await aSchedule();
    await engine.schedule("company-1", minuteAgo(hourMs), zone);
    await postgres.query(`INSERT INTO pgboss.schedule (name, key, cron, timezone, data, options)
      SELECT name, 'company-' || n, cron, timezone, data, options FROM pgboss.schedule, generate_series(2, 2500) n`);
    await node().send();
    expect(await sent()).toHaveLength(2_500);
  });

  test("are sent by the next pass where this one failed", async () => {
    const { engine, postgres, node, sent } = await aSchedule();
    await engine.schedule("tonight", minuteAgo(hourMs), zone);
    const failing = new ScheduledRuns({ postgres, engine: { sendAll: isAway }, log: silentLog });
    await expect(failing.send()).rejects.toThrow("Postgres is away");
    await node().send();
    expect(await sent()).toEqual(["tonight"]);
  });

  test("that cannot be read hold up no other, and are named once", async () => {
    const { engine, postgres, node, lastPass, sent, records } = await aSchedule();
    for (const company of ["broken", "tonight"]) await engine.schedule(company, minuteAgo(hourMs), zone);
    await postgres.query("UPDATE pgboss.schedule SET cron = 'every night' WHERE key = 'broken'");
    const one = node();
    for (let passes = 0; passes < 2; passes++) {
      await lastPass(2 * 3_600);
      await one.send();
      expect(await sent()).toEqual(["tonight"]);
    }
    expect(records()).toMatchObject([{ level: "warn", msg: "a schedule cannot be read" }]);
  });

  test("of the time before the first pass ever are not sent", async () => {
    const { engine, postgres, node, sent } = await aSchedule();
    await postgres.query("UPDATE pgboss.version SET cron_on = NULL");
    await engine.schedule("tonight", minuteAgo(hourMs), zone);
    await node().send();
    expect(await sent()).toEqual([]);
    expect(await postgres.query("SELECT FROM pgboss.version WHERE cron_on IS NOT NULL")).toHaveLength(1);
  });
});
