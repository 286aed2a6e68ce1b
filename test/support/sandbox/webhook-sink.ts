import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import type { Dict } from "./sandbox.ts";
import { eventually } from "../eventually.ts";
import { closeAll, listen } from "../http/loopback.ts";

/** One request as it came in. */
export interface Received {
  readonly atMs: number;
  /** Of the client: the same for what comes through one connection. */
  readonly port: number | undefined;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  readonly json: Dict;
}

/** A status, or what is done instead of an answer. */
export type Treatment =
  number | { readonly status: number; readonly retryAfter: string } | "hang" | "reset" | "redirect" | "drip";

type Treat = (request: Received, index: number) => Treatment | Promise<Treatment>;

export interface WebhookSink {
  readonly url: string;
  readonly received: readonly Received[];
  /** From now on; the function sees which request it is, from 0. */
  treat(treatment: Treatment | Treat): void;
  /** Resolves when so many have come; rejects after ten seconds. */
  arrived(count: number): Promise<void>;
  close(): Promise<void>;
}

const kindly: Treat = () => 204;

/** A receiver on loopback that answers 204 until a test changes that; it ends with the test. */
export async function openSink(): Promise<WebhookSink> {
  const received: Received[] = [];
  let treat = kindly;
  const server = createServer((request, response) => void take(request, response));
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const one = await read(request);
    received.push(one);
    answer(response, await treat(one, received.length - 1));
  };
  const port = await listen(server);
  const close = () => closeAll(server);
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${port}/webhooks/acme`,
    received,
    treat: (treatment) => {
      treat = typeof treatment === "function" ? treatment : () => treatment;
    },
    arrived: (count) =>
      eventually(
        () => received.length >= count,
        () => `${received.length} of ${count} requests came`,
      ),
    close,
  };
}

async function read(request: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const { url = "", headers } = request;
  const port = request.socket.remotePort;
  return { atMs: Date.now(), port, path: url, headers, body, json: parsed(body) };
}

function answer(response: ServerResponse, treatment: Treatment): void {
  if (treatment === "hang") return;
  if (treatment === "reset") response.destroy();
  else if (treatment === "redirect") response.writeHead(307, { Location: "/elsewhere" }).end();
  else if (treatment === "drip") response.writeHead(200).write("never the end");
  else if (typeof treatment === "number") response.writeHead(treatment).end();
  else response.writeHead(treatment.status, { "Retry-After": treatment.retryAfter }).end();
}

function parsed(body: Buffer): Dict {
  try {
    return JSON.parse(body.toString("utf8")) as Dict;
  } catch {
    return {};
  }
}

/** By the receiver guidance of the interface, on its own. */
export function isSigned({ headers, body, json }: Received, secret: string): boolean {
  const expected = createHmac("sha256", secret).update(body).digest("hex");
  return headers["webhook-signature"] === expected && headers["webhook-id"] === json["id"];
}
