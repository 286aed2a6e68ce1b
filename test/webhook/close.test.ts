import { once } from "node:events";
import { describe, expect } from "vitest";
import { aReceiver, post, tunnel, wire, test } from "../support/webhook/webhook.ts";
import { longestWaitMs } from "../support/eventually.ts";

const stubborn = ["nonsense\r\n\r\n", tunnel];

describe("closing", () => {
  // Fault: process | a stop while silent connections are open | the server's close, with raw sockets | they end at once
  test("ends connections that wait for nothing, silent ones too, at once", async ({ receiver }) => {
    const idle = await receiver.dial(wire(post()));
    await idle.answers(1);
    const silent = await receiver.dial();
    await receiver.server.close(2 * longestWaitMs);
    await Promise.all([idle.closed, silent.closed]);
    await expect(receiver.deliver()).rejects.toThrow();
  });

  test("answers what is on its way, and lets it be the last of its connection", async ({ receiver }) => {
    const line = await receiver.dial();
    const bytes = wire(post());
    line.socket.write(bytes.subarray(0, -7));
    await expect.poll(() => line.socket.bytesWritten).toBe(bytes.length - 7);
    await receiver.deliver();
    const closed = receiver.server.close(10_000);
    line.socket.write(bytes.subarray(-7));
    expect(await line.answers(1)).toEqual(["204"]);
    expect(line.text()).toMatch(/connection: close/i);
    await closed;
    expect(receiver.count("_inbox")).toBe(2);
  });

  // Fault: process | a stop while a sender never finishes | the server's close, with a raw socket | cut off at the deadline, and not accepted
  test("has an end: what is not done by then is cut off, and was not accepted", async ({ receiver }) => {
    const line = await receiver.dial(wire(post()).subarray(0, -7));
    await receiver.deliver();
    await receiver.server.close(150);
    await line.closed;
    expect(line.text()).toBe("");
    expect(receiver.count("_inbox")).toBe(1);
    await receiver.server.close(150);
  });

  // Fault: webhook | a sender of CONNECT or of no HTTP keeps its side open | raw socket | cut off, and closing ends
  test.each(stubborn)("has an end also for a sender of %j that never ends its side", async (bytes) => {
    const receiver = await aReceiver();
    const line = await receiver.dialHalfOpen(bytes);
    await once(line, "data");
    await receiver.server.close(50);
  });
});

describe("a connection that was refused without a request", () => {
  // Fault: webhook | nonsense after whole requests on one connection | a raw socket | the whole ones are answered first
  // Fault: webhook | noise or CONNECT right behind whole deliveries, in one packet | raw socket | the deliveries are answered 204, noise gets no response of its own, the connection ends
  test.each([
    ["nonsense\r\n\r\n", []],
    [tunnel, ["405"]],
  ])("by %j ends after the requests that came whole before are answered", async (bytes, refusal) => {
    const receiver = await aReceiver();
    for (const deliveries of [1, 2, 5]) {
      const line = await receiver.dial();
      const whole = Array.from({ length: deliveries }, () => wire(post()));
      line.socket.write(Buffer.concat([...whole, Buffer.from(bytes)]));
      await line.closed;
      expect(await line.answers(deliveries + 1)).toEqual([...whole.map(() => "204"), ...refusal]);
    }
    expect(receiver.count("_inbox")).toBe(8);
  });

  // Fault: network | the sender of CONNECT resets its connection | raw socket | nothing is thrown, the next is served
  test("may be reset at any time, and the next delivery is accepted", async ({ receiver }) => {
    for (let sent = 0; sent < 20; sent++) {
      const line = await receiver.dialHalfOpen(tunnel + "x".repeat(1_000));
      if (sent % 2 === 0) await once(line, "data");
      line.resetAndDestroy();
    }
    expect((await receiver.deliver()).status).toBe(204);
  });
});
