import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { aReceiver, counted, dial, keyringOf, post, sign, eventText, wire } from "../support/webhook.ts";

/** A client that never closes its side, whatever the server does. */
async function stubbornClient(port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined).resume();
  await once(socket, "connect");
  return socket;
}

const ways: readonly (readonly [string, string])[] = [
  ["is silent", ""],
  ["asks for a tunnel", "CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n"],
  ["sends noise", "\u0001\u0002\u0003\r\n\r\n"],
];

describe("a client that never closes its side", () => {
  // Fault: webhook | every place is taken by clients that are silent, ask for a tunnel or send noise, and never close their side | raw sockets | cut off after two deadlines; deliveries have the places again
  test.each(ways)("and %s is cut off, and takes no place from deliveries for long", async (_, bytes) => {
    const receiver = await aReceiver({ limits: { headerDeadlineMs: 200, connections: 2 } });
    const clients = await Promise.all([stubbornClient(receiver.port), stubbornClient(receiver.port)]);
    for (const socket of clients) socket.write(bytes);
    await expect
      .poll(async () => (await receiver.deliver().catch(() => null))?.status, { timeout: 3_000 })
      .toBe(204);
  });
});

// Fault: webhook | a delivery that asks for another protocol (Upgrade) | a raw socket | answered as a delivery; the connection stays HTTP
test("a delivery that asks for another protocol is a delivery", async () => {
  const receiver = await aReceiver();
  const line = await dial(receiver.port);
  line.socket.write(wire(post(), ["connection: upgrade", "upgrade: websocket"]));
  expect(await line.answers(1)).toEqual(["204"]);
  line.socket.write(wire(post(eventText(), { "webhook-signature": "0".repeat(64) })));
  expect(await line.answers(2)).toEqual(["204", "401"]);
  expect(counted(receiver.mirror, "_inbox")).toBe(1);
});

// Fault: webhook | a true delivery of one company is sent to another one | requests to two receivers with secrets of their own | 401, and nothing is stored
test("a delivery that another company's secret signed is refused", async () => {
  const [one, other] = [await aReceiver(), await aReceiver({ keyring: keyringOf("whsec-of-another") })];
  const theirs = eventText();
  const delivery = post(theirs, { "webhook-signature": sign(theirs, "whsec-of-another") });
  expect((await other.deliver(delivery)).status).toBe(204);
  expect((await one.deliver(delivery)).status).toBe(401);
  expect(counted(one.mirror, "_inbox")).toBe(0);
});

// Fault: webhook | more connections than allowed | raw sockets | the extra one is closed; there is room when another ends
test("there are only so many connections at a time", async () => {
  const receiver = await aReceiver({ limits: { connections: 3 } });
  const lines = await Promise.all(Array.from({ length: 3 }, () => dial(receiver.port)));
  const extra = await dial(receiver.port);
  await extra.closed;
  lines[0]?.socket.destroy();
  await lines[0]?.closed;
  await expect.poll(async () => (await receiver.deliver().catch(() => null))?.status).toBe(204);
});
