import { expect, test } from "vitest";
import { hourMs } from "../../../src/base/clock.ts";
import { aCompany, aMirroredCompany, sync } from "../../support/company/company.ts";
import { count, expectEqual, serviceIds } from "../../support/truth/equal.ts";
import { DrivenClock } from "../../support/virtual/driven-clock.ts";
import { htmlPage, unavailable } from "../../support/company/proxy.ts";
import {
  inboxOf,
  pass,
  startWorker,
  waitingRows,
  type RunningWorker,
  type WorkerOptions,
} from "../../support/mirror/event-worker.ts";
import { eventOf } from "../../support/program/deliveries.ts";
import { eventually } from "../../support/eventually.ts";

const quick: WorkerOptions = { attempts: 1 };

async function mirrored() {
  const clock = new DrivenClock();
  const company = await aMirroredCompany({ records: 12 }, { startAtMs: clock.nowMs() });
  const worker = await startWorker(company, { ...quick, clock });
  return { clock, company, worker };
}

const state = ({ eventWorker }: RunningWorker) => eventWorker.state().state;
const reaches = (worker: RunningWorker, what: string) =>
  eventually(() => state(worker) === what, `the worker is ${what}`);

// Fault: service | away for half an hour: 503, broken connections, pages with 404 and 200 | a proxy, while events arrive | few requests, no attempt used up, every event is read afterwards
test("an outage of half an hour, in four ways: few requests, no attempt used up, nothing lost", async () => {
  const { clock, company, worker } = await mirrored();
  await reaches(worker, "working");
  const ways = [unavailable, "reset", htmlPage(404), htmlPage(200)] as const;
  company.proxy.obstruct(({ n }) => ways[n % ways.length]);
  const changed = serviceIds(company, "invoices").slice(0, 3);
  for (const id of changed) company.sandbox.control.alter("invoices", id, { note: "Počas výpadku" });
  worker.deliver(...changed.map((id) => eventOf("invoices.updated", id)));
  await reaches(worker, "unavailable");
  const asked = company.proxy.asked.length;
  await pass(clock, worker, hourMs / 2);
  expect(company.proxy.asked.length - asked).toBeLessThan(45);
  expect(waitingRows(worker.mirror).map((row) => row.split(" ")[3])).toEqual(["ready", "ready", "ready"]);
  expect(count(company.file, "SELECT max(attempts) FROM _work")).toBe(0);
  company.proxy.clear();
  await pass(clock, worker, 180_000);
  await reaches(worker, "working");
  await worker.rest();
  expectEqual(company, { tables: ["invoices"] });
  expect(company.said.filter((line) => /events are|cannot be reached/.test(line))).toHaveLength(3);
});

// Fault: identity | the daemon's token is another company's | the event worker's token | it reads nothing; a rotated token is taken (I10)
test("I10: with a token of another company nothing is read or written, it is tried again every five minutes, and a rotated one is taken", async () => {
  const company = await aCompany({ records: 12, companies: 2 });
  const clock = new DrivenClock();
  await sync(company, { startAtMs: clock.nowMs() });
  const token = company.sandbox.companies[1]?.token ?? "";
  const worker = await startWorker(company, { ...quick, clock, token });
  const [id = 0] = serviceIds(company, "clients");
  worker.deliver(eventOf("clients.updated", id));
  await reaches(worker, "identity");
  await pass(clock, worker, 21 * 60_000);
  expect(company.proxy.asked.filter(({ path }) => path.startsWith("/clients/"))).toEqual([]);
  const own = company.proxy.asked.filter(({ headers }) => headers.authorization === `Bearer ${token}`);
  expect(own).toHaveLength(5);
  expect(inboxOf(worker.mirror)).toEqual(["clients.updated waiting"]);
  expectEqual(company);
  await worker.stop();
  const rotated = await startWorker(company, { clock, token: company.sandbox.readToken });
  await rotated.rest();
  expect(company.said.join("\n")).toContain("was replaced");
  expect(inboxOf(rotated.mirror)).toEqual(["clients.updated done unchanged"]);
});

// Fault: disk | the mirror cannot be written for ten minutes | a read-only connection under the event worker | it pauses, and nothing is lost
test("a mirror that cannot be written pauses the event worker, and nothing is lost", async () => {
  const { clock, company, worker } = await mirrored();
  await reaches(worker, "working");
  const [id = 0] = serviceIds(company, "clients");
  company.sandbox.control.alter("clients", id, { name: "Nové" });
  worker.deliver(eventOf("clients.updated", id));
  worker.mirror.db.pragma("query_only = ON");
  await reaches(worker, "database");
  await pass(clock, worker, 600_000);
  expect(state(worker)).toBe("database");
  worker.mirror.db.pragma("query_only = OFF");
  await pass(clock, worker, 130_000);
  expect(state(worker)).toBe("working");
  expectEqual(company, { tables: ["clients"] });
});
