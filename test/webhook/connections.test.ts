import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { describe, expect, onTestFinished } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { longestWaitMs } from "../support/eventually.ts";
import { aReceiver, forged, post, textPage, tunnel, wire, test } from "../support/webhook/webhook.ts";

const longPage = () => textPage("x".repeat(20_000_000));
const ways: readonly (readonly [string, string])[] = [
  ["is silent", ""],
  ["asks for a tunnel", tunnel],
  ["sends noise", "\u0001\u0002\u0003\r\n\r\n"],
];

describe("a client that never closes its side", () => {
  // Fault: webhook | clients that are silent, ask for a tunnel or send noise, and never close their side | raw sockets | the server's side is gone soon after the deadline
  test.each(ways)("and %s is cut off by the server", async (_, bytes) => {
    const receiver = await aReceiver({ limits: { headerDeadlineMs: 200, lingerMs: 200 } });
    await receiver.dialHalfOpen(bytes);
    await expect.poll(() => receiver.accepted.map(({ destroyed }) => destroyed)).toEqual([true]);
  });

  // Fault: webhook | a client that asks for a long page and does not read it | raw socket that is not read | dropped at the response's deadline, counted
  test("and does not read its response is dropped", async () => {
    const receiver = await aReceiver({ pages: { "/": longPage }, limits: { responseDeadlineMs: 300 } });
    const client = await receiver.dialHalfOpen();
    client.pause().write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
    await expect.poll(() => receiver.accepted.map(({ destroyed }) => destroyed)).toEqual([true]);
    expect(receiver.connections.dropped).toBe(1);
    expect(receiver.lines.at(-1)?.fields).toMatchObject({ why: "the client does not read its response" });
  });
});

describe("when more connections are open than allowed", () => {
  // Fault: webhook | every place is taken by clients that are silent, ask for a tunnel or send noise | raw sockets | a delivery has a place at once; the connection that waited longest is dropped
  test.each(ways)("a delivery has the place of a client that %s at once", async (_, bytes) => {
    const receiver = await aReceiver({ limits: { connections: 4 } });
    for (let count = 0; count < 6; count++) (await receiver.dialHalfOpen()).write(bytes);
    await expect.poll(() => receiver.connections.dropped).toBe(2);
    expect((await receiver.deliver()).status).toBe(204);
    expect(receiver.connections.dropped).toBe(3);
  });

  // Fault: webhook | every place is taken by clients that read no response, or end no body after it | raw sockets | a delivery has a place at once
  test.each([
    ["a response that it does not read", "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"],
    ["a refusal, and keeps its body", "POST /webhooks/acme HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n"],
  ])("a delivery has the place of a client that has %s", async (_, bytes) => {
    const receiver = await aReceiver({ pages: { "/": longPage }, limits: { connections: 3 } });
    for (let count = 0; count < 3; count++) (await receiver.dialHalfOpen()).pause().write(bytes);
    await expect.poll(() => receiver.accepted.filter(({ bytesWritten }) => bytesWritten > 0)).toHaveLength(3);
    expect((await receiver.deliver()).status).toBe(204);
    expect(receiver.connections.dropped).toBe(1);
  });

  test("who delivers keeps its place: the one that waited longest without a request is dropped", async () => {
    const receiver = await aReceiver({ limits: { connections: 3 } });
    const [sender, silent] = [await receiver.dial(), await receiver.dial()];
    const later = await receiver.dial();
    sender.socket.write(wire(post()));
    expect(await sender.answers(1)).toEqual(["204"]);
    await receiver.dial();
    await silent.closed;
    await receiver.dial();
    await later.closed;
    sender.socket.write(wire(post()));
    expect(await sender.answers(2)).toEqual(["204", "204"]);
  });

  // Fault: webhook | more connections than allowed, all with a request that is being answered | raw sockets | the new one is dropped, the others are answered
  test("the new one is dropped where all others are being answered", async () => {
    const answer = Promise.withResolvers<void>();
    let asked = 0;
    const slow = async () => {
      asked++;
      await answer.promise;
      return textPage("fine\n");
    };
    const pages = { "/": () => slow(), "/healthz": () => slow() };
    const receiver = await aReceiver({ pages, limits: { connections: 2 } });
    const lines = [await receiver.dial(), await receiver.dial()];
    for (const [i, path] of Object.keys(pages).entries())
      lines[i]?.socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    await expect.poll(() => asked).toBe(2);
    const { closed } = await receiver.dial();
    await closed;
    answer.resolve();
    for (const line of lines) expect(await line.answers(1)).toEqual(["200"]);
  });

  // Fault: webhook | a flood of connections for minutes | raw sockets, a driven clock | counted all, logged once a minute with their number
  test("each drop is counted, and one line a minute says so", async () => {
    let nowMs = 0;
    const clock = { ...systemClock, monotonicMs: () => nowMs };
    const receiver = await aReceiver({ clock, limits: { connections: 2 } });
    const logged = () => receiver.lines.filter(({ message }) => message === "a connection was dropped");
    for (nowMs = 0; nowMs < 120_000; nowMs += 10_000) await receiver.dialHalfOpen();
    await expect.poll(() => receiver.connections.dropped).toBe(10);
    expect(logged().length).toBeLessThanOrEqual(2);
    expect(logged()[0]?.fields).toMatchObject({ dropped: 1, why: "more than 2 connections are open" });
  });
});

// Fault: webhook | thousands of requests on one connection, whose client waits for no response | raw socket | dropped, counted and logged; what came after the limit is not worked on, and a delivery is answered
test.each([
  ["deliveries", wire(forged()).toString(), "acme 401"],
  ["a strange Expect", "POST /webhooks/acme HTTP/1.1\r\nhost: x\r\nexpect: more\r\n\r\n", "417"],
])("who sends on and on without waiting for responses is dropped: %s", async (_, request, result) => {
  let parsed = 0;
  const count = () => void parsed++;
  subscribe("http.server.request.start", count);
  onTestFinished(() => void unsubscribe("http.server.request.start", count));
  const receiver = await aReceiver({ limits: { unwaited: 3 } });
  const line = await receiver.dial(request.repeat(500));
  await line.closed;
  expect(receiver.connections.dropped).toBe(1);
  expect(receiver.results).toEqual([result, result, result]);
  expect(parsed).toBe(4);
  expect((await receiver.deliver()).status).toBe(204);
});

test("a connection whose response was read stays open for as long as its client likes", async () => {
  let [nowMs, asked] = [0, 0];
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const never = () => {
    asked++;
    return new Promise<never>(() => undefined);
  };
  const receiver = await aReceiver({ clock, pages: { "/never": never } });
  const [kept, waiting] = [await receiver.dial(), await receiver.dial()];
  kept.socket.write(wire(post()));
  expect(await kept.answers(1)).toEqual(["204"]);
  waiting.socket.write("GET /never HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await expect.poll(() => asked).toBe(1);
  nowMs = 3_600_000;
  await waiting.closed;
  kept.socket.write(wire(forged()));
  expect(await kept.answers(2)).toEqual(["204", "401"]);
  expect(receiver.connections.dropped).toBe(1);
});

// Fault: webhook | thousands of requests for a page in one packet | raw socket | the page is made once, and deliveries are answered meanwhile
test("requests for a page that come together cost one page", async () => {
  let made = 0;
  const page = () => {
    made++;
    return textPage("fine\n");
  };
  const receiver = await aReceiver({ pages: { "/": page }, limits: { unwaited: 500 } });
  const line = await receiver.dial("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(500));
  expect(await line.answers(500)).toHaveLength(500);
  expect(made).toBeLessThan(20);
});

// Fault: webhook | a page that takes long to make is asked for again and again | requests one after the other | it is made a few times; deliveries have the rest of the time
test("a page that takes long to make is made seldom, however often it is asked for", async () => {
  let [nowMs, made] = [0, 0];
  const page = () => {
    nowMs += 20;
    return textPage(`${++made}`);
  };
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const receiver = await aReceiver({ pages: { "/": page }, clock });
  const ask = async () => (await fetch(receiver.url)).text();
  for (; nowMs <= 400; nowMs += 20) expect(await ask()).toBe("1");
  expect(await ask()).toBe("2");
});

// Fault: webhook | a delivery that asks for another protocol (Upgrade) | a raw socket | answered as a delivery; the connection stays HTTP
test("a delivery that asks for another protocol is a delivery", async ({ receiver }) => {
  const line = await receiver.dial(wire(post(), ["connection: upgrade", "upgrade: websocket"]));
  expect(await line.answers(1)).toEqual(["204"]);
  line.socket.write(wire(forged()));
  expect(await line.answers(2)).toEqual(["204", "401"]);
  expect(receiver.count("_inbox")).toBe(1);
});

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
