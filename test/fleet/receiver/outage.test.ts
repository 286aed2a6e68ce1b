import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { CompaniesTable } from "../../../src/fleet/postgres/tables/companies-table.ts";
import type { Postgres } from "../../../src/fleet/postgres/connection.ts";
import { InboxTable } from "../../../src/fleet/postgres/tables/inbox-table.ts";
import { migrateFleet } from "../../../src/fleet/postgres/schema.ts";
import { aFleetReceiver, documentOf, fleetOf } from "../../support/fleet/receiver.ts";
import { connectNode, describeWithPostgres, ownServer } from "../../support/postgres/databases.ts";
import { aTcpRelay } from "../../support/fleet/tcp-relay.ts";
import { about, post, type Post } from "../../support/webhook/webhook.ts";
import type { ServerOptions } from "../../support/postgres/server.ts";

/** A fleet with one company, on a Postgres that only this test has. */
async function aFleetOfItsOwn(options?: ServerOptions) {
  const server = await ownServer(options);
  const url = await server.createDatabase();
  const postgres = await connectNode(url, "test");
  await migrateFleet(postgres);
  await new CompaniesTable(postgres).put("acme", documentOf("acme"));
  return { server, url, postgres };
}

async function storedIds(postgres: Postgres): Promise<string[]> {
  const rows = await new InboxTable(postgres).read("acme", 0, 100_000);
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, i) => i + 1));
  return rows.map(({ eventId }) => eventId);
}

/** As the service does, sooner: eight senders deliver one event after another, each until it is accepted. */
function send({ deliver }: Awaited<ReturnType<typeof aFleetReceiver>>) {
  const accepted = new Set<string>();
  const statuses = new Set<number>();
  const over = new AbortController();
  const isAccepted = async (event: Post) => {
    const { status } = await deliver("acme", event);
    statuses.add(status);
    if (status === 204) accepted.add(event.headers["webhook-id"] ?? "");
    return status === 204;
  };
  const deliverAll = async () => {
    for (let i = 0; !over.signal.aborted; i++) {
      const event = post(about(i % 7));
      while (!over.signal.aborted && !(await isAccepted(event))) await pause(20);
    }
  };
  const senders = Array.from({ length: 8 }, deliverAll);
  const end = async () => {
    over.abort();
    await Promise.all(senders);
  };
  return { accepted, statuses, end };
}

describeWithPostgres("I6 what was answered with 204 is in the inbox, once", () => {
  // Fault: process | a receiver dies between the commit and the answer | a receiver whose commit is never answered | the service sends it again, and another node knows it (I6, I7)
  test("a receiver that dies between the commit and the answer: another one knows the delivery", async () => {
    const { postgres } = await fleetOf("acme");
    const neverAnswered = new Promise<never>(() => undefined);
    const transaction: Postgres["transaction"] = (step) =>
      postgres.transaction(step).then(() => neverAnswered);
    const dying = await aFleetReceiver({ ...postgres, transaction });
    const other = await aFleetReceiver(postgres);
    const event = post(about(1));
    const answers: unknown[] = [];
    const answer = dying.deliver("acme", event).catch(() => undefined);
    void answer.then((given) => given && answers.push(given.status));
    await expect.poll(() => storedIds(postgres)).toEqual([event.headers["webhook-id"]]);
    expect((await other.deliver("acme", event)).status).toBe(204);
    expect(await storedIds(postgres)).toHaveLength(1);
    expect(answers).toEqual([]);
  });

  // Fault: fleet | Postgres crashes and starts again under load | a Postgres of its own | 503 at once meanwhile; back by itself; every 204 is in the inbox (I6)
  test("Postgres crashes and comes back under load", async () => {
    const { server, postgres, url } = await aFleetOfItsOwn({ durable: true });
    const receiver = await aFleetReceiver(await connectNode(url, "receiver"));
    const sent = send(receiver);
    const moreAccepted = async () => {
      const before = sent.accepted.size;
      await expect.poll(() => sent.accepted.size).toBeGreaterThan(before + 50);
    };
    await moreAccepted();
    for (let round = 0; round < 2; round++) {
      await server.crash();
      await expect.poll(() => receiver.companies.problem).not.toBeNull();
      await pause(500);
      await server.start();
      await moreAccepted();
      expect(receiver.companies.problem).toBeNull();
    }
    await sent.end();
    expect(sent.statuses).toEqual(new Set([204, 503]));
    const stored = new Set(await storedIds(postgres));
    expect([...sent.accepted].filter((id) => !stored.has(id))).toEqual([]);
    expect(receiver.lines.filter(({ level }) => level === "error")).toHaveLength(2);
  });
});

describeWithPostgres("while Postgres does not answer", () => {
  // Fault: network | every packet to Postgres is lost | a silent relay before Postgres | 503, then without asking; back by itself
  test("the first deliveries are refused in time, later ones without asking it, until it answers again", async () => {
    const { server, url, postgres } = await aFleetOfItsOwn();
    const relay = await aTcpRelay(server.port);
    const node = await connectNode(url.replace(`:${server.port}/`, `:${relay.port}/`), "receiver");
    let transactions = 0;
    const transaction: Postgres["transaction"] = (step) => {
      transactions++;
      return node.transaction(step);
    };
    const receiver = await aFleetReceiver({ ...node, transaction });
    const statusOf = async (event = post(about(1))) => (await receiver.deliver("acme", event)).status;
    expect(await statusOf()).toBe(204);
    relay.silence();
    expect(await Promise.all([statusOf(), statusOf(), statusOf()])).toEqual([503, 503, 503]);
    const before = transactions;
    const later = await Promise.all(Array.from({ length: 20 }, () => statusOf()));
    expect(new Set(later)).toEqual(new Set([503]));
    expect(transactions).toBe(before);
    expect(await statusOf(post(about(1), { "webhook-signature": "0".repeat(64) }))).toBe(401);
    expect(receiver.companies.problem).toContain("does not answer within 4 s");
    relay.resume();
    const event = post(about(2));
    await expect.poll(() => statusOf(event)).toBe(204);
    expect(await storedIds(postgres)).toContain(event.headers["webhook-id"]);
  });
});
