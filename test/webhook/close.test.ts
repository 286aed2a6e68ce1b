import { describe, expect, test } from "vitest";
import { aReceiver, counted, dial, post, wire } from "../support/webhook.ts";

describe("closing", () => {
  test("ends connections that wait for nothing, silent ones too, at once", async () => {
    const receiver = await aReceiver();
    const idle = await dial(receiver.port);
    idle.socket.write(wire(post()));
    await idle.answers(1);
    const silent = await dial(receiver.port);
    const startedMs = Date.now();
    await receiver.server.close(10_000);
    await Promise.all([idle.closed, silent.closed]);
    expect(Date.now() - startedMs).toBeLessThan(2_000);
    await expect(receiver.deliver()).rejects.toThrow();
  });

  test("answers what is on its way, and lets it be the last of its connection", async () => {
    const receiver = await aReceiver();
    const line = await dial(receiver.port);
    const bytes = wire(post());
    line.socket.write(bytes.subarray(0, -7));
    await expect.poll(() => line.socket.bytesWritten).toBe(bytes.length - 7);
    await receiver.deliver();
    const closed = receiver.server.close(10_000);
    line.socket.write(bytes.subarray(-7));
    expect(await line.answers(1)).toEqual(["204"]);
    expect(line.text()).toMatch(/connection: close/i);
    await closed;
    expect(counted(receiver.mirror, "_inbox")).toBe(2);
  });

  test("has an end: what is not done by then is cut off, and was not accepted", async () => {
    const receiver = await aReceiver();
    const line = await dial(receiver.port);
    line.socket.write(wire(post()).subarray(0, -7));
    await receiver.deliver();
    const startedMs = Date.now();
    await receiver.server.close(150);
    expect(Date.now() - startedMs).toBeLessThan(2_000);
    await line.closed;
    expect(line.text()).toBe("");
    expect(counted(receiver.mirror, "_inbox")).toBe(1);
    await receiver.server.close(150);
  });

  test("an address in use is an error with a hint", async () => {
    const receiver = await aReceiver();
    await expect(aReceiver({ port: receiver.port })).rejects.toMatchObject({ kind: "network" });
  });
});
