import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { hourMs, type Clock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/logger.ts";
import { createBeat, createNote, createReceiverNote, runHeartbeat } from "../../src/host/heartbeat.ts";
import { reasonForRun } from "../../src/host/run-scheduler.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { UptimeLog, type Span } from "../../src/state/uptime-log.ts";
import { receiverNoteKey, serviceNote, type ReceiverNote } from "../../src/status/event-status.ts";
import { takeWriterLock } from "../../src/store/writer-lock.ts";
import { LoopTurns } from "../../src/store/transient-errors.ts";
import { RefusalWatch } from "../../src/webhook/delivery-gap/refusal-watch.ts";
import type { ConnectionCounts } from "../../src/server/connections.ts";
import { openShop } from "../support/mirror/mirror.ts";
import { tempFolder } from "../support/temporary-folder.ts";

const t0 = Date.UTC(2026, 10, 21);

/** What a step of a heartbeat may change and look at. */
interface Beating {
  readonly watch: RefusalWatch;
  readonly connections: ConnectionCounts;
  readonly mirror: Mirror;
}

/** A heartbeat whose waits take no time; `step` is called in each of them, with the time since the start. */
async function beating(
  endMs: number,
  step: (ms: number, parts: Beating) => void,
  receivedSpans?: () => readonly Span[],
) {
  const mirror = await openShop();
  mirror.db.pragma("synchronous = OFF");
  const lock = takeWriterLock(path.join(tempFolder(), "shop.lock"), "serve");
  onTestFinished(() => lock.release());
  const closing = new AbortController();
  const connections = { dropped: 0 };
  let ms = 0;
  const clock: Clock = {
    nowMs: () => t0 + ms,
    monotonicMs: () => ms,
    sleep: async (forMs) => {
      ms += forMs;
      step(ms, { watch, connections, mirror });
      if (ms >= endMs) closing.abort();
    },
  };
  const watch = new RefusalWatch(clock);
  const uptime = new UptimeLog(mirror.db);
  const gaps: (string | null)[] = [];
  const keys = ["some-key"];
  const context = { clock, log: silentLog, connections, strayRefusals: {}, turns: new LoopTurns(() => 0) };
  const steps = [
    createNote(mirror, "service", () => serviceNote({ state: "working", message: null, sinceMs: t0 })),
    createNote(mirror, "orders", () => []),
    () => watch.observe(null, keys),
    createReceiverNote(context, mirror, watch, () => null),
    createBeat(
      context,
      uptime,
      watch,
      () => keys,
      (why) => gaps.push(why),
      receivedSpans && (() => uptime.merge(receivedSpans())),
    ),
  ];
  await runHeartbeat(context, mirror, lock, steps, () => undefined, closing.signal);
  const writes = Number(mirror.db.prepare("SELECT total_changes()").pluck().get());
  return { spans: uptime.spans(), gaps, writes };
}

function lost(spans: Awaited<ReturnType<typeof beating>>["spans"], nowMs: number): boolean {
  return reasonForRun(true, spans, t0 + 1, nowMs) !== null;
}

// Fault: webhook | every delivery is refused for four hours | the daemon's heartbeat | that time is a delivery gap: a run is due when one is accepted
test("hours in which every delivery is refused are a gap, which ends with the first one that is accepted", async () => {
  const [refusedMs, takenMs] = [607_000, 4.2 * hourMs];
  const { spans, gaps } = await beating(4.3 * hourMs, (ms, { watch }) => {
    if (ms >= refusedMs && ms < takenMs && ms % 100_000 === 7_000)
      watch.refused({ reason: "stale_timestamp", isGenuine: true });
    if (ms === takenMs) watch.accepted();
  });
  expect(spans).toEqual([
    { startedMs: t0, seenMs: t0 + refusedMs },
    { startedMs: t0 + takenMs, seenMs: expect.any(Number) },
  ]);
  expect(gaps).toEqual([expect.stringContaining("no longer refused")]);
  expect(lost(spans, t0 + 4.3 * hourMs)).toBe(true);
});

function flood(ms: number, { watch }: Beating): void {
  if (ms % (9 * 60_000) === 1_000) watch.accepted();
  for (let i = 0; i < 1_000; i++) watch.refused({ reason: "bad_signature" });
}

// Fault: webhook | a client sends a thousand wrong signatures a second, while deliveries arrive | the daemon's heartbeat | no gap, and no write more than every 15 s
test("a flood of wrong signatures beside accepted deliveries makes no gap, and hardly a write", async () => {
  const forMs = hourMs / 3;
  const quiet = await beating(forMs, () => undefined);
  const { spans, gaps, writes } = await beating(forMs, flood);
  expect([spans.length, gaps, lost(spans, t0 + forMs)]).toEqual([1, [], false]);
  expect(writes - quiet.writes).toBeLessThanOrEqual(forMs / 15_000 + 1);
});

test("the first dropped connection is noted within a second, and more of them at most every 15 s", async () => {
  const noted: number[] = [];
  await beating(40_000, (ms, { connections, mirror }) => {
    const { dropped_connections: dropped } = mirror.meta.get(receiverNoteKey) as ReceiverNote;
    if (dropped !== (noted.at(-1) ?? 0)) noted.push(dropped);
    if (ms >= 5_000) connections.dropped++;
  });
  expect(noted).toEqual([1, 16, 31]);
});

const received1s = (ms: number): Span => ({ startedMs: t0 + ms, seenMs: t0 + ms + 1_000 });

test("the first time in which other processes received ends no gap that anybody hears of; the next one does", async () => {
  let received = [received1s(1_000)];
  const { gaps } = await beating(
    hourMs,
    (ms) => {
      if (ms === 60_000) received = [received1s(1_000), received1s(60_000)];
    },
    () => received,
  );
  expect(gaps).toEqual([expect.stringContaining("no process of the fleet received")]);
});
