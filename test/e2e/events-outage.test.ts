import { describe, expect, test } from "vitest";
import { aCompany, sync, type Company } from "../support/company.ts";
import { expectEqual, expectTombstonesTrue } from "../support/equal.ts";
import { createDrivenClock } from "../support/rate-limit.ts";
import { jsonReply, type Obstacle } from "../support/proxy.ts";
import {
  eventOf,
  inboxOf,
  pass,
  tend,
  until,
  waitingRows,
  type Tended,
  type TendedOptions,
} from "../support/event-worker.ts";
import { truthOf } from "../support/truth.ts";

const hourMs = 3_600_000;
const quick: TendedOptions = { attempts: 1 };
const unauthenticated = () => jsonReply(401, { message: "Unauthenticated." });
const html = {
  status: 404,
  headers: { "content-type": "text/html" },
  body: Buffer.from("<h1>Not here</h1>"),
};

const ids = (company: Company, table: string) =>
  [...(truthOf(company.sandbox).get(table)?.keys() ?? [])].map(Number);

async function mirrored(obstacle?: Obstacle) {
  const clock = createDrivenClock();
  const company = await aCompany({ records: 12 });
  await sync(company, { startAtMs: clock.nowMs() });
  if (obstacle) company.proxy.obstruct(obstacle);
  const tended = await tend(company, { ...quick, clock });
  return { clock, company, tended };
}

const state = ({ tender }: Tended) => tender.state().state;

describe("an outage", () => {
  test.each([
    ["503 everywhere", () => jsonReply(503, { message: "Service Unavailable" })],
    ["connections that break", () => "reset" as const],
    ["a page of something before the service", () => html],
    ["a page with 200", () => ({ ...html, status: 200 })],
  ])(
    "of hours, %s: asks seldom, uses up no attempt, and loses nothing",
    async (_what, obstacle) => {
      const { clock, company, tended } = await mirrored();
      await until(() => state(tended) === "working");
      company.proxy.obstruct(obstacle);
      const changed = ids(company, "invoices").slice(0, 3);
      for (const id of changed) company.sandbox.control.alter("invoices", id, { note: "Počas výpadku" });
      tended.deliver(...changed.map((id) => eventOf("invoices.updated", id)));
      await until(() => state(tended) === "unavailable");
      const asked = company.proxy.asked.length;
      await pass(clock, tended, hourMs / 2);
      expect(company.proxy.asked.length - asked).toBeLessThan(45);
      expect(waitingRows(tended.mirror).map((row) => row.split(" ")[3])).toEqual(["ready", "ready", "ready"]);
      company.proxy.clear();
      await pass(clock, tended, 180_000);
      await until(() => state(tended) === "working");
      await tended.rest();
      expectEqual(company, { tables: ["invoices"] });
      const lines = company.said.filter((line) => /events are|cannot be reached/.test(line));
      expect(lines).toHaveLength(3);
    },
    30_000,
  );

  test("of the records' routes alone, while the service still tells who we are, makes no dead letters", async () => {
    const { clock, company, tended } = await mirrored(({ path }) =>
      path === "/whoami" ? undefined : jsonReply(500, { message: "Server Error" }),
    );
    const some = [...ids(company, "clients").slice(0, 8), ...ids(company, "clients").slice(0, 2)];
    tended.deliver(...some.map((id) => eventOf("clients.updated", id)));
    await pass(clock, tended, hourMs / 2);
    expect(state(tended)).toBe("unavailable");
    expect(new Set(waitingRows(tended.mirror).map((row) => row.split(" ")[3]))).toEqual(new Set(["ready"]));
    expect(company.proxy.asked.length).toBeLessThan(400);
    company.proxy.clear();
    await pass(clock, tended, 180_000);
    expect(state(tended)).toBe("working");
    expect(inboxOf(tended.mirror).every((row) => row.includes("done"))).toBe(true);
  });

  test("of one record alone is that record's fault once others were read: a dead letter, its event waits", async () => {
    const { clock, company, tended } = await mirrored();
    const [broken = 0, ...others] = ids(company, "clients");
    company.proxy.obstruct(({ path }) =>
      path === `/clients/${broken}` ? jsonReply(500, { message: "Server Error" }) : undefined,
    );
    tended.deliver(eventOf("clients.updated", broken));
    for (const id of others.slice(0, 8)) {
      tended.deliver(eventOf("clients.updated", id));
      await pass(clock, tended, 70_000);
    }
    expect(waitingRows(tended.mirror)).toContain(`clients id:${broken} detail dead clients.updated`);
    expect(inboxOf(tended.mirror)).toContain("clients.updated waiting");
    expect(state(tended)).toBe("working");
    company.proxy.clear();
    expect((await tended.run()).outcome).toBe("complete");
    expect(inboxOf(tended.mirror)).not.toContain("clients.updated waiting");
  });
});

describe("a token that is not taken", () => {
  test("in the middle: events are kept and told of, asked for every few minutes, and read when it is taken again", async () => {
    const { clock, company, tended } = await mirrored();
    await until(() => state(tended) === "working");
    company.proxy.obstruct(unauthenticated);
    const [id = 0] = ids(company, "orders");
    company.sandbox.control.remove("orders", id);
    tended.deliver(eventOf("orders.deleted", id));
    await until(() => state(tended) === "unauthenticated");
    const asked = company.proxy.asked.length;
    await pass(clock, tended, hourMs);
    expect(company.proxy.asked.length - asked).toBeLessThan(16);
    company.proxy.clear();
    await pass(clock, tended, 310_000);
    await tended.rest();
    expect(inboxOf(tended.mirror)).toEqual(["orders.deleted done deleted"]);
    expectTombstonesTrue(company);
  });

  test("I10: of another company: nothing is read or written, asked again every five minutes", async () => {
    const company = await aCompany({ records: 12, companies: 2 });
    const clock = createDrivenClock();
    await sync(company, { startAtMs: clock.nowMs() });
    const token = company.sandbox.companies[1]?.token ?? "";
    const tended = await tend(company, { ...quick, clock, token });
    const [id = 0] = ids(company, "clients");
    tended.deliver(eventOf("clients.updated", id));
    await until(() => state(tended) === "identity");
    await pass(clock, tended, 21 * 60_000);
    expect(company.proxy.asked.filter(({ path }) => path.startsWith("/clients/"))).toEqual([]);
    expect(
      company.proxy.asked.filter(({ headers }) => headers.authorization === `Bearer ${token}`).length,
    ).toBe(5);
    expect(inboxOf(tended.mirror)).toEqual(["clients.updated waiting"]);
    expectEqual(company);
  });
});

test("a mirror that cannot be written pauses the tender, and nothing is lost", async () => {
  const { clock, company, tended } = await mirrored();
  await until(() => state(tended) === "working");
  const [id = 0] = ids(company, "clients");
  company.sandbox.control.alter("clients", id, { name: "Nové" });
  tended.deliver(eventOf("clients.updated", id));
  tended.mirror.db.pragma("query_only = ON");
  await until(() => state(tended) === "database");
  await pass(clock, tended, 600_000);
  expect(state(tended)).toBe("database");
  tended.mirror.db.pragma("query_only = OFF");
  await pass(clock, tended, 130_000);
  expect(state(tended)).toBe("working");
  expectEqual(company, { tables: ["clients"] });
});
