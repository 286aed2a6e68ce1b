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

/** As the service does, sooner: each delivery is sent until it is accepted. */
class Service {
  readonly accepted = new Set<string>();
  readonly statuses = new Set<number>();
  private isOver = false;
  private readonly senders: Promise<void>[];

  constructor(url: string) {
    const deliverAll = async () => {
      for (let i = 0; !this.isOver; i++) {
        const event = post(about(i % 7));
        while (!this.isOver && !(await this.attempt(url, event))) await pause(20);
      }
    };
    this.senders = Array.from({ length: 8 }, deliverAll);
  }

  async end(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.senders);
  }

  private async attempt(url: string, { headers, body }: Post): Promise<boolean> {
    const sent = fetch(`${url}/webhooks/acme`, { method: "POST", headers, body: Buffer.from(body) });
    const { status } = await sent.catch(() => ({ status: 0 }));
    this.statuses.add(status);
    if (status === 204) this.accepted.add(headers["webhook-id"] ?? "");
    return status === 204;
  }
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
    const service = new Service(`http://127.0.0.1:${receiver.port}`);
    const moreAccepted = async () => {
      const before = service.accepted.size;
      await expect.poll(() => service.accepted.size).toBeGreaterThan(before + 50);
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
    await service.end();
    expect(service.statuses).toEqual(new Set([204, 503]));
    const stored = new Set(await storedIds(postgres));
    expect([...service.accepted].filter((id) => !stored.has(id))).toEqual([]);
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
