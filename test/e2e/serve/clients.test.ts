import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { aMirroredCompany } from "../../support/company/company.ts";
import { serve, writeServeConfig } from "../../support/program/serve.ts";
import { deliver, eventOf } from "../../support/program/deliveries.ts";
import { statusOf } from "../../support/company/served-company.ts";
import { dialHalfOpen } from "../../support/webhook/webhook.ts";
import { eventually } from "../../support/eventually.ts";

/** A connection that keeps its side open, and reads nothing unless asked to. */
async function hold(url: string, bytes = ""): Promise<Socket> {
  const socket = await dialHalfOpen(Number(new URL(url).port));
  socket.pause().write(bytes);
  return socket;
}

const metricsRequest = "GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n";
const held = [
  "CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n",
  "GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
  "GET /healthz HTTP/1.1\r\nho",
  "POST /webhooks/acme HTTP/1.1\r\nhost: x\r\ncontent-length: 20\r\n\r\n{",
  "noise\r\n\r\n",
  metricsRequest.repeat(8),
  metricsRequest.repeat(3_000),
];

/** Asks for a page under this name; gives the status, and whether it shows the company. */
async function pageUnder(url: string, host: string) {
  const request = `GET /readyz HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`;
  const answer = await text(await hold(url, request));
  return [/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1], answer.includes("acme")];
}

// Fault: webhook | a page of a real serve is asked for under the name of somebody else | raw sockets | 421 without the page; names of the config are served
// Fault: webhook | 600 silent connections, CONNECT, Upgrade, half a request, noise and unread pages, all kept open | raw sockets against a real serve | deliveries are answered 204 at once, the drops are in metrics, log and status, SIGTERM ends with 0
test("clients that hold what they can keep no delivery out, and the process from no end; pages are shown under the names of the config only", async () => {
  const company = await aMirroredCompany({ records: 2 });
  writeServeConfig(company, "serve: { hosts: [mirror.internal] }");
  const daemon = await serve(company);
  const { url } = daemon;
  expect(await pageUnder(url, "attacker.example")).toEqual(["421", false]);
  expect(await pageUnder(url, "mirror.internal:8787")).toEqual([expect.stringMatching(/200|503/), true]);

  await Promise.all(Array.from({ length: 600 }, () => hold(url)));
  expect(await deliver(daemon, eventOf("clients.updated", 1))).toBe(204);
  // A page of a moment ago may still be shown for up to a second.
  await eventually(async () => {
    const page = await (await fetch(`${url}/metrics`)).text();
    return Number(/^fintoro_mirror_dropped_connections_total (\d+)$/m.exec(page)?.[1]) >= 89;
  }, "the drops in /metrics");
  expect(daemon.said().filter(({ msg }) => msg === "a connection was dropped")).toHaveLength(1);
  const dropped = async () => Number((await statusOf(company)).events?.dropped_connections);
  await eventually(async () => (await dropped()) > 0, "the drops in status --json");
  for (const bytes of held) await hold(url, bytes);
  expect(await deliver(daemon, eventOf("clients.updated", 1))).toBe(204);
  expect(await daemon.end("SIGTERM")).toMatchObject({ code: 0 });
});
