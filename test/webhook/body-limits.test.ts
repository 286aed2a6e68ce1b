import { IncomingMessage } from "node:http";
import { describe, expect, onTestFinished, vi } from "vitest";
import { aReceiver, eventText, post, statusOf, wire, test } from "../support/webhook/webhook.ts";

const longEvent = () => eventText({ type: "x".repeat(900) });

describe("a body has its limits", () => {
  const limits = { bodyBytes: 2_000 };
  const long = eventText({ type: "x".repeat(2_000) });

  test("one that says it is too long is refused before it is sent", async () => {
    const { status, line } = await statusOf({ limits }, wire(post(long)).subarray(0, 400));
    expect(status).toBe("413");
    expect(line.text()).toMatch(/connection: close/i);
  });

  // Fault: webhook | a body that grows past its limit in chunks | a raw socket | 413 as soon as it does, nothing stored
  test("one that becomes too long without having said so is refused as soon as it is", async () => {
    const { headers } = post(long);
    const head = wire({ headers, body: "" }, ["transfer-encoding: chunked"]);
    const chunk = `3e8\r\n${"x".repeat(1_000)}\r\n`;
    const { status, line, receiver } = await statusOf({ limits }, head, chunk, chunk, chunk);
    expect(status).toBe("413");
    expect(line.text()).toMatch(/connection: close/i);
    line.socket.write("0\r\n\r\n");
    await line.closed;
    expect(receiver.count("_inbox")).toBe(0);
  });

  // Fault: webhook | a body in a hundred thousand chunks of one byte | a raw socket | refused, made nothing of after some hundred chunks, also of the same packet, and a delivery is answered at once
  test.each([
    ["of a delivery", post().headers, "POST /webhooks/acme", "acme 413"],
    ["behind a refused head", {}, "POST /webhooks/acme", "acme 400"],
    ["of a request for a page", {}, "GET /", "411"],
  ])("one in pieces of a byte, %s, is cut off after some hundred", async (_, headers, start, result) => {
    const receiver = await aReceiver({ pages: { "/": () => new Promise<never>(() => undefined) } });
    const made = vi.spyOn(IncomingMessage.prototype, "push");
    onTestFinished(() => made.mockRestore());
    const line = await receiver.dial(wire({ headers, body: "" }, ["transfer-encoding: chunked"], start));
    line.socket.write("1\r\nx\r\n".repeat(100_000));
    await line.closed;
    expect(made.mock.calls.length).toBeLessThan(1_200);
    expect(receiver.accepted[0]?.bytesRead).toBeLessThan(300_000);
    expect(receiver.results).toEqual([result]);
    expect((await receiver.deliver()).status).toBe(204);
  });

  // Fault: webhook | a sender that never ends | a raw socket with 50 MB | 413, and cut off
  test("the answer reaches a sender who goes on sending, and who never ends is cut off", async () => {
    const { line } = await statusOf({ limits }, wire(post(long), ["content-length: 900000000"]));
    const more = Buffer.alloc(1_000_000);
    for (let sent = 0; sent < 50 && !line.socket.destroyed; sent++) {
      await new Promise<void>((resolve) => line.socket.write(more, () => resolve()));
    }
    await line.closed;
    expect(await line.answers(1)).toEqual(["413"]);
  });

  test("exactly as long as allowed is taken, and 256 kB are by default", async ({ receiver }) => {
    const empty = eventText({ id: "evt-long", type: "" });
    const text = eventText({ id: "evt-long", type: "x".repeat(256_000 - empty.length) });
    expect((await receiver.deliver(post(text))).status).toBe(204);
    expect((await receiver.deliver(post(`${text} `))).status).toBe(413);
  });

  // Fault: webhook | a body that drips | a raw socket | 408 at the body's deadline
  test("one that drips has no more time than one that stays away", async () => {
    const receiver = await aReceiver({ limits: { bodyDeadlineMs: 300 } });
    const line = await receiver.dial(wire(post(), ["content-length: 1000"]));
    const drip = setInterval(() => line.socket.write("x"), 40);
    expect(await line.answers(1)).toEqual(["408"]);
    clearInterval(drip);
    expect(receiver.results).toEqual(["acme 408"]);
  });

  // Fault: webhook | senders fill the memory for all bodies with bodies that they do not end | raw sockets | the oldest gets 503 when another one needs the room, which is accepted
  test("all bodies that are on their way together have a limit, and the oldest makes room for others", async () => {
    const receiver = await aReceiver({ limits: { bodiesBytes: 2_500 } });
    const bytes = wire(post(longEvent()));
    const [oldest, newer] = [await receiver.dial(), await receiver.dial()];
    oldest.socket.write(bytes.subarray(0, -10));
    await expect.poll(() => receiver.accepted[0]?.bytesRead).toBe(bytes.length - 10);
    newer.socket.write(bytes.subarray(0, -10));
    await expect
      .poll(async () => [(await receiver.deliver(post(longEvent()))).status, oldest.text().slice(9, 12)])
      .toEqual([204, "503"]);
    newer.socket.write(bytes.subarray(-10));
    expect(await newer.answers(1)).toEqual(["204"]);
  });

  test("a body that alone is longer than the room for all is refused, and others come, however many", async () => {
    const receiver = await aReceiver({ limits: { bodiesBytes: 500 } });
    expect((await receiver.deliver(post(longEvent()))).status).toBe(503);
    for (let each = 0; each < 5; each++) expect((await receiver.deliver()).status).toBe(204);
  });
});
