import { expect, test } from "vitest";
import type { EventStream } from "../../src/webhook/server/event-streams.ts";
import type { Site } from "../../src/webhook/server/site.ts";
import { aReceiver, dial } from "../support/webhook/webhook.ts";
import { eventually } from "../support/eventually.ts";

interface Followed {
  readonly site: Site;
  readonly sends: ((message: string) => void)[];
  readonly ended: () => number;
}

function aSite(): Followed {
  const sends: ((message: string) => void)[] = [];
  let ended = 0;
  const stream: EventStream = {
    follow: (send) => {
      sends.push(send);
      return () => void ended++;
    },
  };
  const site: Site = { methodsOf: () => "GET, HEAD", answer: () => Promise.resolve(stream) };
  return { site, sends, ended: () => ended };
}

const ask = "GET /live HTTP/1.1\r\nhost: localhost\r\n\r\n";

async function reading(port: number) {
  const line = await dial(port);
  line.socket.write(ask);
  await eventually(() => line.text().includes("\r\n\r\n"), "an answer");
  return line;
}

// Fault: webhook | more readers of pages than there may be | raw sockets | 503 for those above, and deliveries go on
test("streams are bounded in number: further readers get 503 and ask later", async () => {
  const { site, ended } = aSite();
  const receiver = await aReceiver({ site, limits: { streams: 3 } });
  const { port } = receiver;
  const lines = [];
  for (let i = 0; i < 4; i++) lines.push(await reading(port));
  const statuses = lines.map((line) => /^HTTP\/1.1 (\d+)/.exec(line.text())?.[1]);
  expect(statuses).toEqual(["200", "200", "200", "503"]);
  expect((await receiver.deliver()).status).toBe(204);
  lines[0]?.socket.destroy();
  await eventually(() => ended() === 1, "the end of a stream");
  expect((await reading(port)).text()).toMatch(/^HTTP\/1.1 200/);
});

test("a stream ends after its time, and says before when to come back", async () => {
  const { site, ended } = aSite();
  const { port } = await aReceiver({ site, limits: { streamMs: 60, heartbeatMs: 20 } });
  const line = await reading(port);
  await eventually(() => ended() === 1, "the end of the stream");
  expect(line.text()).toMatch(/retry: \d+\n\n[^]*: still here\n\n/);
});

// Fault: webhook | a reader of a page that reads nothing more | raw socket, paused | dropped as soon as a megabyte waits for it
test("a reader that does not read is dropped before much waits for it", async () => {
  const { site, sends, ended } = aSite();
  const { port } = await aReceiver({ site, limits: { unreadBytes: 100_000 } });
  const line = await reading(port);
  line.socket.pause();
  for (let i = 0; i < 200 && ended() === 0; i++) {
    sends[0]?.(`data: ${"x".repeat(100_000)}\n\n`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await eventually(() => ended() === 1, "the end of the stream");
});

test("a reader that is quiet is no client that does not read: its connection stays", async () => {
  const { site, ended, sends } = aSite();
  const { port } = await aReceiver({ site, limits: { responseDeadlineMs: 20, heartbeatMs: 50 } });
  const line = await reading(port);
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(ended()).toBe(0);
  sends[0]?.("data: here\n\n");
  await eventually(() => line.text().includes("data: here"), "what is sent");
});
