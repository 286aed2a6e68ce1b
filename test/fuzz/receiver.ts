import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as fc from "fast-check";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/logger.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { WorkQueue } from "../../src/state/work-queue.ts";
import { openDatabase } from "../../src/store/database.ts";
import { CompanyIngest, type Ingest } from "../../src/webhook/ingest/ingest.ts";
import { startServer } from "../../src/server/server.ts";
import {
  acceptedSockets,
  eventText,
  keyringOf,
  post,
  secret,
  shopWithEvents,
  wire,
} from "../support/webhook/webhook.ts";
import { fuzzTarget, type AtEnd } from "./fuzz-target.ts";
import { bytesOf, connectionPlan, type ConnectionPlan } from "./request-bytes.ts";
import { memoryScratch } from "../support/memory-folder.ts";

const limits = { bodyBytes: 3_000, bodyDeadlineMs: 1_500, headerDeadlineMs: 1_500, keepAliveMs: 100 };
/** No connection is open so long after the sender's last byte, whatever it does. */
const slowestMs = 9_000;

type OpenReceiver = Awaited<ReturnType<typeof openReceiver>>;

async function openReceiver(atEnd: AtEnd) {
  const { path: folder, remove } = memoryScratch();
  atEnd(remove);
  const manifest = shopWithEvents();
  const mirror = await openMirror(path.join(folder, "shop.db"), manifest);
  atEnd(() => mirror.close());
  mirror.db.pragma("synchronous = OFF");
  const selected = new Set(manifest.resources.map(({ name }) => name));
  const ingest = new CompanyIngest({
    mirror,
    queue: new WorkQueue(mirror.db),
    selected,
    keyring: keyringOf(secret),
  });
  /** Of deliveries, duplicates too. */
  let commits = 0;
  const counting: Ingest = {
    keyring: ingest.keyring,
    has: (eventId) => ingest.has(eventId),
    store: (deliveries, receivedAtMs) => {
      const results = ingest.store(deliveries, receivedAtMs);
      commits += results.length;
      return results;
    },
  };
  const companies = {
    find: (name: string) => (name === "acme" ? counting : null),
    countAnswer: () => undefined,
  };
  const accepted = acceptedSockets(atEnd);
  const parts = {
    host: "127.0.0.1",
    port: 0,
    companies,
    clock: systemClock,
    pages: {},
    log: silentLog,
    limits,
  };
  const server = await startServer(parts);
  atEnd(() => server.close(0));
  /** Another connection to the mirror: it sees what is committed only. */
  const reader = openDatabase(path.join(folder, "shop.db"), { readonly: true });
  atEnd(() => reader.close());
  return { port: server.port, accepted, commits: () => commits, reader };
}

/** Errors that nobody caught: in `serve` each would end the process. */
function uncaughtErrors(atEnd: AtEnd): unknown[] {
  const errors: unknown[] = [];
  const remember = (error: unknown) => void errors.push(error);
  process.on("uncaughtException", remember);
  atEnd(() => process.off("uncaughtException", remember));
  return errors;
}

/** Sends what is planned, and gives the statuses that came; null where the sender did not wait for them. */
async function statusesOf(port: number, plan: ConnectionPlan, writes: readonly Buffer[]): Promise<number[]> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  let text = "";
  socket.setNoDelay(true).setEncoding("latin1");
  socket.on("data", (chunk: string) => (text += chunk));
  socket.on("error", () => undefined);
  await Promise.race([once(socket, "connect"), once(socket, "close")]);
  for (const bytes of writes) {
    socket.write(bytes);
    await sleep(0);
  }
  if (plan.ending === "destroy") socket.destroy();
  else if (plan.ending === "reset") socket.resetAndDestroy();
  else if (plan.ending === "end") socket.end();
  await finished(socket);
  if (plan.ending === "hold") await sleep(20);
  const statuses = Array.from(text.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => Number(status));
  socket.destroy();
  return statuses;
}

/** Until the server ended its side. */
async function finished(socket: Socket): Promise<void> {
  if (socket.destroyed || socket.readableEnded) return;
  const waiting = new AbortController();
  const { signal } = waiting;
  const ended = Promise.race([once(socket, "end", { signal }), once(socket, "close", { signal })]);
  const late = sleep(slowestMs, "late", { signal });
  const outcome = await Promise.race([ended, late]);
  waiting.abort();
  await Promise.allSettled([ended, late]);
  assert.notEqual(outcome, "late", "the server never ended the connection");
}

async function allClosed(sockets: readonly Socket[]): Promise<void> {
  const endMs = performance.now() + slowestMs;
  while (sockets.some(({ destroyed }) => !destroyed)) {
    assert.ok(performance.now() < endMs, "a connection is still open after its deadline");
    await sleep(5);
  }
}

/** Ends its side after the response only: Node ends a connection whose sender is done, whether it was answered or not. */
const next: ConnectionPlan = { pieces: [], damages: [], cuts: [], ending: "hold" };

async function checkPlans(
  { port, accepted, commits, reader }: OpenReceiver,
  plans: readonly ConnectionPlan[],
) {
  const before = commits();
  const seenSockets = accepted.length;
  const lastSeq = reader.prepare("SELECT coalesce(max(seq), 0) FROM _inbox").pluck().get();
  const planned = plans.map(bytesOf);
  const answers = await Promise.all(plans.map((plan, i) => statusesOf(port, plan, planned[i]?.writes ?? [])));
  const last = eventText();
  assert.deepEqual(
    await statusesOf(port, next, [wire(post(last), ["connection: close"])]),
    [204],
    "the next delivery is not accepted",
  );
  for (const status of answers.flat())
    assert.ok(status === 100 || status === 204 || (status >= 400 && status < 500), `answered ${status}`);
  const acceptedCount = answers.flat().filter((status) => status === 204).length;
  assert.ok(
    acceptedCount <= commits() - before - 1,
    `${acceptedCount} answers 204, ${commits() - before - 1} commits`,
  );
  const bodies = reader.prepare("SELECT body FROM _inbox WHERE seq > ?").pluck().all(lastSeq) as string[];
  const signed = new Set([...planned.flatMap((one) => one.signed), last]);
  assert.deepEqual(
    bodies.filter((body) => !signed.has(body)),
    [],
    "something was stored that nobody signed",
  );
  assert.ok(bodies.includes(last), "an accepted delivery is not in the inbox");
  for (const [i, plan] of plans.entries()) {
    if (plan.ending === "destroy" || plan.ending === "reset" || planned[i]?.beginsWell !== true) continue;
    const first = answers[i]?.[0] ?? (plan.ending === "end" ? 204 : null);
    assert.equal(first, 204, "a delivery without a mistake was not accepted");
  }
  await allClosed(accepted.slice(seenSockets));
}

/** Bytes on the port of the webhook server. */
export const bytesToTheReceiver = fuzzTarget("receiver/requests", {
  runs: 10,
  input: fc.array(connectionPlan, { minLength: 1, maxLength: 3 }),
  open: async (atEnd) => {
    const uncaught = uncaughtErrors(atEnd);
    const receiver = await openReceiver(atEnd);
    return async (plans) => {
      await checkPlans(receiver, plans);
      assert.deepEqual(uncaught.splice(0), [], "an error was not caught");
    };
  },
});
