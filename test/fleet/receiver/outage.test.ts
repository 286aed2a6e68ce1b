import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { CompaniesTable } from "../../../src/fleet/postgres/tables/companies-table.ts";
import type { Postgres } from "../../../src/fleet/postgres/connection.ts";
import { InboxTable } from "../../../src/fleet/postgres/tables/inbox-table.ts";
import { migrateFleet } from "../../../src/fleet/postgres/schema.ts";
import { aFleetReceiver, documentOf } from "../../support/fleet/receiver.ts";
import { connectNode, describeWithPostgres, ownServer } from "../../support/postgres/databases.ts";
import { aTcpRelay } from "../../support/fleet/tcp-relay.ts";
import { about, post, secret, type Post } from "../../support/webhook/webhook.ts";
import { firstLine, startProgram } from "../../support/program/cli.ts";

const file = fileURLToPath(new URL("../../support/fleet/receiver-process.ts", import.meta.url));

/** A fleet with one company, on a Postgres that only this test has. */
async function aFleetOfItsOwn(durable = false) {
  const server = await ownServer({ durable });
  const url = await server.createDatabase();
  const postgres = await connectNode(url, "test");
  await migrateFleet(postgres);
  await new CompaniesTable(postgres).put("acme", documentOf("acme"));
  return { server, url, postgres };
}

async function startProcess(...args: string[]) {
  const child = startProgram(args, { file, stdin: "pipe", env: { ACME_SECRET: secret } });
  return { child, port: Number(await firstLine(child)) };
}

function send(port: number, { headers, body }: Post): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/webhooks/acme`, {
    method: "POST",
    headers,
    body: Buffer.from(body),
  });
}

async function storedIds(postgres: Postgres): Promise<string[]> {
  const rows = await new InboxTable(postgres).read("acme", 0, 100_000);
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, i) => i + 1));
  return rows.map(({ eventId }) => eventId);
}

/** As the service does, sooner: each delivery is sent until it is accepted. */
class Service {
  readonly accepted = new Set<string>();
  /** How long refusals took, ms. */
  readonly refusedMs: number[] = [];
  readonly statuses = new Map<number, number>();
  private isOver = false;
  private readonly senders: Promise<void>[];

  /** @param portOf gives where the n-th attempt goes */
  constructor(portOf: (attempt: number) => number) {
    let attempts = 0;
    const deliverAll = async () => {
      for (let i = 0; !this.isOver; i++) {
        const event = post(about(i % 7));
        while (!this.isOver && !(await this.attempt(portOf(attempts++), event))) await pause(20);
      }
    };
    this.senders = Array.from({ length: 8 }, deliverAll);
  }

  async end(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.senders);
  }

  private async attempt(port: number, event: Post): Promise<boolean> {
    const sentMs = performance.now();
    const status = await send(port, event).then(
      (answer) => answer.status,
      () => 0,
    );
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    if (status === 204) this.accepted.add(event.headers["webhook-id"] ?? "");
    else this.refusedMs.push(performance.now() - sentMs);
    return status === 204;
  }
}

describeWithPostgres("I6 what was answered with 204 is in the inbox, once", () => {
  // Fault: process | kill -9 of a receiver between the commit and the answer | a process of a receiver | the service sends it again, and another node knows it (I6, I7)
  test("a receiver that is killed between the commit and the answer: another one knows the delivery", async () => {
    const { url, postgres } = await aFleetOfItsOwn();
    const [dying, other] = [await startProcess(url, "dies-after-commit"), await startProcess(url)];
    const event = post(about(1));
    await expect(send(dying.port, event)).rejects.toThrow();
    expect(await storedIds(postgres)).toEqual([event.headers["webhook-id"]]);
    expect((await send(other.port, event)).status).toBe(204);
    expect(await storedIds(postgres)).toHaveLength(1);
  });

  // Fault: process | kill -9 of one of two receivers under load | two processes of receivers | everything that was answered 204 is in the inbox once (I6, I7)
  test("one of two receivers is killed at any moment under load", async () => {
    const { url, postgres } = await aFleetOfItsOwn();
    let nodes = [await startProcess(url), await startProcess(url)];
    const service = new Service((attempt) => nodes[attempt % 2]?.port ?? 0);
    for (let round = 1; round <= 3; round++) {
      const before = service.accepted.size;
      await expect.poll(() => service.accepted.size).toBeGreaterThan(before + 100);
      nodes[0]?.child.kill("SIGKILL");
      nodes = [...nodes.slice(1), await startProcess(url)];
    }
    await service.end();
    const stored = await storedIds(postgres);
    expect([...service.accepted].filter((id) => !new Set(stored).has(id))).toEqual([]);
    expect(new Set(stored).size).toBe(stored.length);
    expect(service.statuses.get(0)).toBeGreaterThan(0);
  });

  // Fault: fleet | Postgres crashes and starts again under load | a Postgres of its own | 503 at once meanwhile; back by itself; every 204 is in the inbox (I6)
  test("Postgres crashes and comes back under load", async () => {
    const { server, postgres, url } = await aFleetOfItsOwn(true);
    const receiver = await aFleetReceiver(await connectNode(url, "receiver"));
    const service = new Service(() => receiver.port);
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
    expect(new Set(service.statuses.keys())).toEqual(new Set([204, 503]));
    expect(Math.max(...service.refusedMs)).toBeLessThan(2_000);
    const stored = new Set(await storedIds(postgres));
    expect([...service.accepted].filter((id) => !stored.has(id))).toEqual([]);
    expect(receiver.lines.filter(({ level }) => level === "error")).toHaveLength(2);
  });
});

describeWithPostgres("while Postgres does not answer", () => {
  // Fault: network | every packet to Postgres is lost | a silent relay before Postgres | 503 within 5 s, then at once; back by itself
  test("the first deliveries are refused after seconds, later ones at once, until it answers again", async () => {
    const { server, url, postgres } = await aFleetOfItsOwn();
    const relay = await aTcpRelay(server.port);
    const node = await connectNode(url.replace(`:${server.port}/`, `:${relay.port}/`), "receiver");
    const receiver = await aFleetReceiver(node);
    const timed = async (event = post(about(1))) => {
      const sentMs = performance.now();
      const { status } = await receiver.deliver("acme", event);
      return { status, ms: performance.now() - sentMs };
    };
    expect((await timed()).status).toBe(204);
    relay.silence();
    const first = await Promise.all([timed(), timed(), timed()]);
    expect(first.map(({ status }) => status)).toEqual([503, 503, 503]);
    expect(Math.max(...first.map(({ ms }) => ms))).toBeLessThan(6_000);
    const later = await Promise.all(Array.from({ length: 20 }, () => timed()));
    expect(new Set(later.map(({ status }) => status))).toEqual(new Set([503]));
    expect(Math.max(...later.map(({ ms }) => ms))).toBeLessThan(500);
    const bad = post(about(1), { "webhook-signature": "0".repeat(64) });
    expect((await timed(bad)).status).toBe(401);
    expect(receiver.companies.problem).toContain("does not answer");
    relay.resume();
    const event = post(about(2));
    await expect.poll(async () => (await timed(event)).status).toBe(204);
    expect(await storedIds(postgres)).toContain(event.headers["webhook-id"]);
  });
});
