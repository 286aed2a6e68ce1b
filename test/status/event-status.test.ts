import { describe, expect, test } from "vitest";
import { hourMs, minuteMs } from "../../src/base/clock.ts";
import { eventLines } from "../../src/status/render/status-text.ts";
import { daemonSilent, judgeEvents, emptyReceiverNote } from "../../src/status/event-status.ts";
import type { readEventFacts, EventStatus } from "../../src/status/event-status.ts";
import type { EndedSpan } from "../../src/state/uptime-log.ts";

type EventFacts = ReturnType<typeof readEventFacts>;
type Around = { readonly writer: Parameters<typeof judgeEvents>[1]; readonly mayBeLost: boolean };

const nowMs = Date.UTC(2026, 10, 21, 8);
const ago = (ms: number) => new Date(nowMs - ms).toISOString();

function span(fromAgoMs: number, toAgoMs: number, ended: string | null = null): EndedSpan {
  return { startedMs: nowMs - fromAgoMs, seenMs: nowMs - toAgoMs, ended };
}

const quiet: EventFacts = {
  counts: { done: 4 },
  waitingSince: null,
  stuck: 0,
  lastReceivedAt: ago(5_000),
  unknownTypes: [],
  spans: [span(3 * hourMs, 4_000)],
  service: { state: "working", message: null, since: ago(3 * hourMs) },
  ...emptyReceiverNote,
  orders: [],
};

const serve = { command: "serve", since: ago(9 * 24 * hourMs) };
const serving: Around = { writer: serve, mayBeLost: false };
const alone: Around = { ...serving, writer: null };
const syncing: Around = { ...serving, writer: { ...serve, command: "sync" } };

function judged(facts: Partial<EventFacts> = {}, around: Around = serving): EventStatus {
  return judgeEvents({ ...quiet, ...facts }, around.writer, around.mayBeLost, nowMs);
}

test("gaps are between the spans of the receiver, from the last heartbeat on, for seven days", () => {
  const spans = [
    span(9 * 24 * hourMs, 8 * 24 * hourMs, "drained"),
    span(7.5 * 24 * hourMs, 30 * hourMs),
    span(29 * hourMs, 5 * hourMs, "drained"),
    span(4.5 * hourMs, 1_000),
  ];
  expect(judged({ spans }).gaps).toEqual([
    { from: ago(30 * hourMs), to: ago(29 * hourMs), cause: "killed" },
    { from: ago(5 * hourMs), to: ago(4.5 * hourMs), cause: "stopped" },
  ]);
});

describe("a daemon that holds the lock and writes nothing", () => {
  const spans = [span(30 * hourMs, 29 * hourMs), span(3 * hourMs, 2 * minuteMs)];
  const since = (ms: number, writer = serve) => ({ ...serving, writer: { ...writer, since: ago(ms) } });

  test.each<[string, Partial<EventFacts>, Around, boolean]>([
    ["since its heartbeats ended", { spans }, serving, true],
    ["since it began", { spans, service: null }, since(61_000), true],
    ["but it began a moment ago", { spans, service: null }, since(59_000), false],
    ["but it has no webhook secret: no heartbeats", { spans: spans.slice(0, 1) }, since(3.5 * hourMs), false],
    ["but it is closing or opening the mirror", { spans: [span(hourMs, 9_000, "drained")] }, serving, false],
    ["but it is a sync", { spans }, syncing, false],
  ])("is silent %s", (_, facts, around, isSilent) => {
    expect(daemonSilent(judged(facts, around))).toBe(isSilent);
  });
});

function linesOf(facts: Partial<EventFacts>, around: Around = serving): string[] {
  return eventLines(judged(facts, around), nowMs);
}

function shows(facts: Partial<EventFacts>, line: string, around: Around = serving): void {
  expect(linesOf(facts, around)).toContain(line);
}

describe("the lines for people show", () => {
  test("that all is well, in three lines", () => {
    expect(linesOf({})).toEqual([
      "  events: none waits; the last was received 5s ago",
      "  receiver: listening for 3h 00m",
      "  service: working for 3h 00m",
    ]);
  });

  test("nothing of events where no receiver ever ran", () => {
    expect(linesOf({ spans: [], lastReceivedAt: null, counts: {}, service: null })).toEqual([]);
  });

  test("how many events wait and since when, and when the last was received", () => {
    const three = { counts: { waiting: 3 }, waitingSince: ago(2 * minuteMs) };
    shows(three, "  events: 3 wait, the oldest received 2m 00s ago; the last was received 5s ago");
    shows({ lastReceivedAt: null, counts: {} }, "  events: none waits; none was ever received");
  });

  test("which events cannot be read, are unknown, or are none", () => {
    const types = ["clients.merged", null].map((type, at) => ({ type, count: 3 - 2 * at }));
    const counts = { waiting: 2, unknown: 4, unreadable: 1 };
    const odd = { counts, waitingSince: ago(minuteMs), stuck: 2, unknownTypes: types };
    shows(odd, "  ! 2 events wait for records that could not be read (see above)");
    shows(odd, "  4 events of no known record are kept: clients.merged (3), without a type (1)");
    shows(odd, "  1 signed delivery that is no event is kept");
  });

  test("since when no receiver listens, and why", () => {
    const spans = [span(5 * hourMs, 2 * hourMs)];
    const drained = [span(5 * hourMs, 1_000, "drained")];
    shows({ spans }, "  receiver: none is listening, for 2h 00m: serve was killed", syncing);
    // It was killed a moment ago, and nobody has its lock.
    shows({}, "  receiver: none is listening, for 4s: serve was killed", alone);
    shows({ spans: drained }, "  receiver: none is listening, for 1s: serve was stopped");
    shows({ spans: [] }, "  receiver: none has run yet");
  });

  test("the gaps of the last days", () => {
    const spans = [span(9 * hourMs, 8 * hourMs), span(7 * hourMs, 4 * hourMs), span(3.5 * hourMs, 1_000)];
    const receiver = "  receiver: listening for 3h 30m;";
    shows({ spans }, `${receiver} 2 gaps in the last 7 days, the longest 1h 00m`);
    shows({ spans: spans.slice(1) }, `${receiver} 1 gap in the last 7 days, the longest 30m 00s`);
  });

  test("the state of the service, as far as a daemon knows, and the commands of other processes", () => {
    const since = ago(190 * minuteMs);
    const service = { state: "unauthenticated", message: "Unauthenticated.", since } as const;
    shows({ service }, "  service: unauthenticated for 3h 10m: Unauthenticated.");
    expect(linesOf({ service }, alone).join("\n")).not.toContain("service:");
    const orders = [{ kind: "sync", askedAt: ago(3_000), pid: 12, state: "waiting" }] as const;
    shows({ orders }, "  command: sync for process 12, sent 3s ago: waiting");
  });
});
