import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { signedHeaders } from "../support/program/deliveries.ts";

export const secret = "whsec_of_the_bench_0123456789abcdef";
/** Of one round. */
export const requests = 12_000;
const path = "/webhooks/acme";
const records = 20_000;

/** What the load is to be: an ordinary HTTP client makes it, in a process of its own as the service does. */
export interface LoadOrder {
  readonly port: number;
  readonly connections: number;
  /** Each connection sends one packet of chunks of a byte instead, and waits for its end. @default false */
  readonly chunks?: boolean;
}

export interface LoadResult {
  readonly perSecond: number;
  readonly notAccepted: number;
}

interface Prepared {
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string;
}

const kinds = [
  ["invoices.updated", "invoice"],
  ["clients.updated", "client"],
  ["price-list-items.stock-updated", "priceListItem"],
  ["invoices.created", "invoice"],
] as const;

/** Distinct events, as a busy company has them: of several kinds, some about the same record. */
function prepare(n: number): Prepared {
  const [type, resourceType] = kinds[n % kinds.length] ?? kinds[0];
  const id = randomUUID();
  const resource = { type: resourceType, id: 1 + ((n * 7_919) % records) };
  const body = JSON.stringify({ id, type, occurredAt: new Date().toISOString(), resource });
  return { headers: { ...signedHeaders(id, body, secret), "content-length": Buffer.byteLength(body) }, body };
}

/** Everything is signed before the clock starts; then each connection sends as soon as it was answered. */
async function load({ port, connections }: LoadOrder): Promise<LoadResult> {
  const left = Array.from({ length: requests }, (_, n) => prepare(n));
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let notAccepted = 0;
  const deliver = ({ headers, body }: Prepared) =>
    new Promise<void>((resolve, reject) => {
      const options = { host: "127.0.0.1", port, path, method: "POST", agent, headers };
      const sent = request(options, (answer) => {
        if (answer.statusCode !== 204) notAccepted++;
        answer.resume().once("end", resolve);
      });
      sent.once("error", reject);
      sent.end(body);
    });
  const sender = async () => {
    for (let one = left.pop(); one; one = left.pop()) await deliver(one);
  };
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: connections }, sender));
  const tookMs = performance.now() - startedMs;
  agent.destroy();
  return { perSecond: (requests * 1000) / tookMs, notAccepted };
}

const packetBytes = 65_000;

async function sendChunks({ port, connections }: LoadOrder): Promise<LoadResult> {
  const sending = Array.from({ length: connections }, async (_, n) => {
    const { headers } = prepare(n);
    const lines = Object.entries({ ...headers, "transfer-encoding": "chunked" })
      .filter(([name]) => name !== "content-length")
      .map(([name, value]) => `${name}: ${value}\r\n`);
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    await once(socket, "connect");
    const packet = `POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n`.padEnd(packetBytes, "1\r\nx\r\n");
    return { socket: socket.resume(), packet };
  });
  const ended = (await Promise.all(sending)).map(({ socket, packet }) => {
    socket.write(packet);
    return once(socket, "close");
  });
  await Promise.all(ended);
  return { perSecond: 0, notAccepted: 0 };
}

if (import.meta.main) {
  process.on("message", (order: LoadOrder) => {
    void (order.chunks ? sendChunks : load)(order).then((result) => process.send?.(result));
  });
}
