import { createHmac } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Dict } from "./sandbox.ts";
import { eventually } from "../eventually.ts";
import { startService, untilTheEnd, type Asked } from "../http/http.ts";

export interface Received extends Asked {
  readonly json: Dict;
}

/** A status, or what is done instead of an answer. */
export type Treatment =
  number | { readonly status: number; readonly retryAfter: string } | "hang" | "reset" | "redirect" | "drip";

type Treat = (request: Received, index: number) => Treatment | Promise<Treatment>;

const kindly: Treat = () => 204;

export type WebhookSink = Awaited<ReturnType<typeof openSink>>;

/** A receiver on loopback that answers 204 until a test changes that; it ends with the test. */
export async function openSink() {
  const received: Received[] = [];
  let treat = kindly;
  const service = await startService(async (response, asked, index) => {
    const one = { ...asked, json: parsed(asked.body) };
    received.push(one);
    answer(response, await treat(one, index));
  });
  const { origin, connections, close } = untilTheEnd(service);
  return {
    url: `${origin}/webhooks/acme`,
    received: received as readonly Received[],
    connections,
    close,
    /** From now on; the function sees which request it is, from 0. */
    treat: (treatment: Treatment | Treat) => {
      treat = typeof treatment === "function" ? treatment : () => treatment;
    },
    arrived: (count: number) =>
      eventually(
        () => received.length >= count,
        () => `${received.length} of ${count} requests came`,
      ),
  };
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
