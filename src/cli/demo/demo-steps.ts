import { createServer } from "node:net";
import { MirrorError } from "../../base/errors.ts";
import { createRateLimiter } from "../../rate-limit/rate-limiter.ts";
import { createMemoryRateLimitStore } from "../../rate-limit/state-store.ts";
import { createHttpTransport } from "../../http/http-transport.ts";
import type { CommandContext, DemoChange, RunningSandbox } from "../program/command.ts";

/** What the story needs of the world: the service it plays on, and time. */
export interface DemoContext {
  /** Requests the service has answered so far. */
  requests(): number;
  /** What the service has sent to receivers so far. */
  sent(): Sent;
  /** Does `work` with what can be changed at the service now. */
  changing<T>(work: (changes: readonly DemoChange[]) => Promise<T>): Promise<T>;
  nowMs(): number;
  /** Throws once the demo is to stop. */
  wait(ms: number): Promise<void>;
  /** On this machine, and left alone by the system while its owner is killed and started again. */
  freePort(): Promise<number>;
}

interface Sent {
  readonly events: number;
  /** Of these, answered with 2xx. */
  readonly delivered: number;
  readonly attempts: number;
  /** Attempts that nobody answered so. */
  readonly failed: number;
}

/** Waits until it is so; false if it was not within the time. */
export async function until(
  scene: Pick<DemoContext, "nowMs" | "wait">,
  isSo: () => boolean,
  withinMs: number,
): Promise<boolean> {
  for (const endMs = scene.nowMs() + withinMs; scene.nowMs() < endMs; await scene.wait(5)) {
    if (isSo()) return true;
  }
  return isSo();
}

export function demoContextOf(context: CommandContext, sandbox: RunningSandbox): DemoContext {
  const { clock, signal, random } = context;
  return {
    requests: () => sandbox.requestCount(),
    sent: () => sentOf(sandbox),
    changing: (work) => changing(context, sandbox, work),
    nowMs: () => clock.monotonicMs(),
    wait: async (ms) => {
      await clock.sleep(ms, signal);
      if (signal.aborted) throw new MirrorError("stopped", "the demo was stopped");
    },
    freePort: async () => {
      for (let tries = 0; tries < 100; tries++) {
        const port = 20_000 + Math.floor(random.next() * 12_000);
        if (await isFree(port)) return port;
      }
      throw new MirrorError("usage", "no port from 20000 to 32000 is free");
    },
  };
}

function sentOf(sandbox: RunningSandbox): Sent {
  const attempts = sandbox.attempts();
  const good = attempts.filter(({ outcome }) => outcome === "delivered");
  return {
    events: new Set(attempts.map(({ eventId }) => eventId)).size,
    delivered: new Set(good.map(({ eventId }) => eventId)).size,
    attempts: attempts.length,
    failed: attempts.length - good.length,
  };
}

async function changing<T>(
  { clock, random, log, version, connectors }: CommandContext,
  { url, token }: RunningSandbox,
  work: (changes: readonly DemoChange[]) => Promise<T>,
): Promise<T> {
  const rateLimiter = createRateLimiter({ store: createMemoryRateLimitStore(), clock });
  const address = { baseUrl: url, token, language: "en", userAgent: `fintoro-mirror/${version}` };
  const transport = createHttpTransport({ clock, random, log, rateLimiter, ...address });
  try {
    return await work(await connectors[0].demoChanges(transport));
  } finally {
    await transport.close();
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
