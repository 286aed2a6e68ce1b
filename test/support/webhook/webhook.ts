import type { Refusal } from "../../../src/webhook/delivery-gap/refusal-watch.ts";
import { createHmac, randomUUID } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { onTestFinished, test as plainTest } from "vitest";
import { systemClock, type Clock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/logger.ts";
import type { EventRule, ConnectorDeclaration } from "../../../src/connector/connector-declaration.ts";
import type { Mirror } from "../../../src/state/mirror.ts";
import { readDelivery, signedForm } from "../../../src/webhook/ingest/delivery.ts";
import type { Delivery } from "../../../src/state/inbox/inbox.ts";
import { startServer, type ServerOptions } from "../../../src/server/server.ts";
import type { Page } from "../../../src/server/response.ts";
import { CompanyIngest, type Ingest } from "../../../src/webhook/ingest/ingest.ts";
import type { Companies } from "../../../src/webhook/receiver.ts";
import type { Keyring } from "../../../src/webhook/keys/keyring.ts";
import { WorkQueue } from "../../../src/state/work-queue.ts";
import { stubLog } from "../http/http-client.ts";
import { declarationOf, openShop } from "../mirror/mirror.ts";
import { signedHeaders } from "../program/deliveries.ts";

export const secret = "whsec-of-the-shop";

/** The shop's events: reads of all kinds, and one of something that nobody can read. */
const rules: readonly EventRule[] = [
  { type: "people.created", resourceType: "person", resource: "people", action: "refetch" },
  { type: "people.updated", resourceType: "person", resource: "people", action: "refetch" },
  { type: "people.deleted", resourceType: "person", resource: "people", action: "confirm" },
  { type: "orders.updated", resourceType: "order", resource: "orders", action: "refetch" },
  { type: "foreign-bills.paid", resourceType: "foreignBill", resource: null, action: "keep" },
];

export function shopWithEvents(events: readonly EventRule[] = rules): ConnectorDeclaration {
  return { ...declarationOf(), events };
}

let count = 0;

/** An event as the service writes it; each has an id of its own. */
export function eventText(parts: { id?: unknown; type?: unknown; resource?: unknown } = {}): string {
  const { id = `evt-${(count += 1)}-${randomUUID()}`, type = "people.updated" } = parts;
  const { resource = { type: "person", id: 1 } } = parts;
  return JSON.stringify({ id, type, occurredAt: "2026-03-01T00:00:00Z", resource });
}

export function about(id: number, type = "people.updated", resourceType = "person"): string {
  return eventText({ type, resource: { type: resourceType, id } });
}

/** The same as the receiver takes it apart. */
export function deliveryOf(text: string | Buffer): Delivery {
  const body = Buffer.from(text);
  const delivery = readDelivery(body, idIn(body), signedForm);
  if ("status" in delivery) throw new Error(delivery.why);
  return delivery;
}

function idIn(body: Buffer): string {
  try {
    const { id } = JSON.parse(body.toString().replace(/^\uFEFF/, "")) as { id?: unknown };
    return typeof id === "string" ? id : "none";
  } catch {
    return "none";
  }
}

export function sign(body: string | Buffer, key = secret): string {
  return createHmac("sha256", key).update(body).digest("hex");
}

export interface Post {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

/** A delivery as the service sends it now; `headers` change or (empty) remove some. */
export function post(body: string | Buffer = eventText(), headers: Record<string, string> = {}): Post {
  const all = { ...signedHeaders(idIn(Buffer.from(body)), body, secret), ...headers };
  const present = Object.entries(all).filter(([, value]) => value !== "");
  return { headers: Object.fromEntries(present), body };
}

export type OpenIngest = Awaited<ReturnType<typeof openIngest>>;

export interface IngestOptions {
  readonly declaration?: ConnectorDeclaration;
  readonly selected?: readonly string[];
  readonly keyring?: Keyring;
  readonly path?: string;
}

export async function openIngest(options: IngestOptions = {}) {
  const { declaration = shopWithEvents(), keyring = keyringOf(secret) } = options;
  const mirror = await openShop({ declaration, ...(options.path !== undefined && { path: options.path }) });
  const queue = new WorkQueue(mirror.db);
  const selected = new Set(options.selected ?? declaration.resources.map(({ name }) => name));
  const ingest = new CompanyIngest({ mirror, queue, selected, keyring });
  return {
    mirror,
    queue,
    ingest,
    count: (table: string) => counted(mirror, table),
  };
}

/** By somebody who has no secret. */
export function forged(body = eventText(), signature = "0".repeat(64)): Post {
  return post(body, { "webhook-signature": signature });
}

export const textPage = (body: string): Page => ({ status: 200, type: "text/plain", body });

/** What a client of a proxy asks for, and no sender of deliveries. */
export const tunnel = "CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n";

/** A keyring that never changes. */
export function keyringOf(...keys: readonly string[]): Keyring {
  return { accepted: () => keys, refresh: () => false };
}

export interface ReceiverOptions extends IngestOptions {
  readonly limits?: ServerOptions["limits"];
  readonly pages?: Readonly<Record<string, () => Promise<Page> | Page>>;
  readonly clock?: Clock;
}

/** The whole of it on loopback; ends with the test. */
export async function aReceiver(options: ReceiverOptions = {}) {
  const shop = await openIngest(options);
  /** `acme stored`, `acme 401`. */
  const results: string[] = [];
  /** What each refusal says of the company's health. */
  const refused: Refusal[] = [];
  const log = stubLog();
  let ingest: Ingest | "unavailable" = shop.ingest;
  const companies: Companies = {
    find: (company) => (company === "acme" ? ingest : null),
    countAnswer: (company, result, refusal) => {
      results.push(`${company} ${result}`.trim());
      if (refusal) refused.push(refusal);
    },
  };
  const accepted = acceptedSockets();
  const { limits = {}, pages = {}, clock = systemClock } = options;
  const connections = { dropped: 0 };
  const server = await aServer({ companies, clock, pages, log, limits, counts: connections });
  const { port, url } = server;
  const deliver = ({ headers, body }: Post = post(), path = "/webhooks/acme") =>
    fetch(url + path, { method: "POST", headers, body: Buffer.from(body) });
  return {
    ...shop,
    server,
    port,
    url,
    connections,
    accepted,
    results,
    refused,
    lines: log.lines,
    /** Replaces the company's ingest. */
    put: (other: Ingest | "unavailable") => void (ingest = other),
    deliver,
    dial: (...bytes: readonly (string | Buffer)[]) => dial(port, ...bytes),
    dialHalfOpen: (bytes?: string) => dialHalfOpen(port, bytes),
  };
}

/** A test with an ingest, or with the whole of it, where it names one. */
export const test = plainTest.extend("shop", () => openIngest()).extend("receiver", () => aReceiver());

/** The real server on loopback, without a company unless some are given. Ends with the test. */
export async function aServer(options: Partial<ServerOptions>) {
  const companies: Companies = { find: () => null, countAnswer: () => undefined };
  const usual = { companies, clock: systemClock, pages: {}, log: silentLog };
  const server = await startServer({ host: "127.0.0.1", port: 0, ...usual, ...options });
  onTestFinished(() => server.close(0));
  return { ...server, url: `http://127.0.0.1:${server.port}` };
}

/** The server's side of every connection that is accepted from now on, until the end. */
function acceptedSockets(): readonly Socket[] {
  const accepted: Socket[] = [];
  const remember = (message: unknown) => void accepted.push((message as { socket: Socket }).socket);
  subscribe("net.server.socket", remember);
  onTestFinished(() => void unsubscribe("net.server.socket", remember));
  return accepted;
}

/** As bytes on the wire, for what no client would send. */
export function wire(
  { headers, body }: Post,
  more: readonly string[] = [],
  start = "POST /webhooks/acme",
): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const length = `content-length: ${Buffer.byteLength(body)}`;
  const head = [`${start} HTTP/1.1`, "host: localhost", ...lines, ...more];
  const framed = more.some((line) => /^(content-length|transfer-encoding)/i.test(line))
    ? head
    : [...head, length];
  return Buffer.concat([Buffer.from(`${framed.join("\r\n")}\r\n\r\n`), Buffer.from(body)]);
}

/** A client that never closes its side, whatever the server does. */
export async function dialHalfOpen(port: number, bytes: string | Buffer = ""): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined).resume();
  await once(socket, "connect");
  socket.write(bytes);
  return socket;
}

/** A client that sends bytes as they are. */
export async function dial(port: number, ...bytes: readonly (string | Buffer)[]) {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  let text = "";
  socket.setNoDelay(true).setEncoding("latin1");
  socket.on("data", (chunk: string) => (text += chunk));
  socket.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await once(socket, "connect");
  const heads = () => text.match(/HTTP\/1\.1 (?!100)\d+/g) ?? [];
  /** Resolves when that many responses have begun, or the connection is closed. */
  const answers = (most: number) =>
    new Promise<readonly string[]>((resolve) => {
      const look = () => {
        if (heads().length < most && !socket.destroyed) return;
        socket.off("data", look);
        resolve(heads().map((head) => head.slice(9)));
      };
      socket.on("data", look);
      void closed.then(look);
      look();
    });
  for (const some of bytes) socket.write(some);
  return { socket, text: () => text, answers, closed };
}

/** Sends bytes as they are to a receiver of its own; the status of the first response. */
export async function statusOf(options: ReceiverOptions, ...bytes: (string | Buffer)[]) {
  const receiver = await aReceiver(options);
  const line = await dial(receiver.port, ...bytes);
  const [status] = await line.answers(1);
  return { status, receiver, line };
}

export function counted(mirror: Mirror, table: string): number {
  return Number(mirror.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
}
