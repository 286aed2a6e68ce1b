import { formatDuration } from "../../base/units.ts";
import { eventsOverdue, type EventStatus } from "../event-status.ts";

/** Pure: what `status` says of events, for people; nothing where nobody ever listened and none ever came. */
export function eventLines(events: EventStatus, nowMs: number): string[] {
  if (events.listeningSince === null && events.lastReceivedAt === null) return orderLines(events, nowMs);
  return [
    ...waitingLines(events, nowMs),
    ...oddLines(events),
    ...receiverLines(events, nowMs),
    ...serviceLines(events, nowMs),
    ...orderLines(events, nowMs),
  ];
}

function waitingLines(events: EventStatus, nowMs: number): string[] {
  const { counts, waitingSince, lastReceivedAt, stuck } = events;
  const last = lastReceivedAt === null ? "none ever came" : `the last came ${ago(lastReceivedAt, nowMs)}`;
  const waiting =
    waitingSince === null
      ? "none waits"
      : `${count(counts.waiting ?? 0, "waits", "wait")}, the oldest came ${ago(waitingSince, nowMs)}`;
  const mark = eventsOverdue(events, nowMs) ? "! " : "";
  const given = `${count(stuck, "event waits", "events wait")} for records that could not be read (see above)`;
  return [`  ${mark}events: ${waiting}; ${last}`, ...(stuck > 0 ? [`  ! ${given}`] : [])];
}

function oddLines({ counts, unknownTypes }: EventStatus): string[] {
  const types = unknownTypes.map((one) => `${one.type ?? "without a type"} (${one.count})`).join(", ");
  const { unknown = 0, unreadable = 0 } = counts;
  const strange = count(unknown, "event that nobody knows is", "events that nobody knows are");
  const garbled = count(
    unreadable,
    "signed delivery that is no event is",
    "signed deliveries that are no events are",
  );
  return [
    ...(unknown > 0 ? [`  ${strange} kept: ${types}`] : []),
    ...(unreadable > 0 ? [`  ${garbled} kept`] : []),
  ];
}

function receiverLines(events: EventStatus, nowMs: number): string[] {
  const { listening, listeningSince, gaps, mayBeLost } = events;
  if (listeningSince === null) return ["  receiver: none has listened yet"];
  const open = gaps.find(({ to }) => to === null);
  const stands = listening
    ? `listening for ${span(listeningSince, nowMs)}`
    : `nobody listens${open ? `, for ${span(open.from, nowMs)}: ${causes[open.cause]}` : ""}`;
  const lost = mayBeLost ? [`  ! ${lossText(listening)}`] : [];
  return [`  receiver: ${stands}${pastGaps(events)}`, ...lost];
}

const causes = { stopped: "serve was stopped", killed: "serve was killed" };

function lossText(listening: boolean): string {
  const healing = listening ? "serve starts a run by itself" : "`fintoro-mirror sync` finds what is missing";
  return `events may have been lost while nobody listened, and no whole reading came since; ${healing}`;
}

function pastGaps({ gaps }: EventStatus): string {
  const lengths = gaps.flatMap(({ from, to }) => (to === null ? [] : [Date.parse(to) - Date.parse(from)]));
  if (lengths.length === 0) return "";
  const longest = formatDuration(Math.max(...lengths));
  return `; ${count(lengths.length, "gap", "gaps")} in the last 7 days, the longest ${longest}`;
}

/** What the daemon wrote down is true for as long as there is one. */
function serviceLines({ listening, service }: EventStatus, nowMs: number): string[] {
  if (!listening || service === null) return [];
  const { state, message, since } = service;
  const mark = state === "working" || state === "starting" ? "" : "! ";
  return [`  ${mark}service: ${state} for ${span(since, nowMs)}${message === null ? "" : `: ${message}`}`];
}

function orderLines({ orders }: EventStatus, nowMs: number): string[] {
  return orders.map(
    ({ kind, askedAt, pid, state }) =>
      `  order: ${kind} asked by process ${pid} ${ago(askedAt, nowMs)}: ${state}`,
  );
}

function span(iso: string, nowMs: number): string {
  return formatDuration(nowMs - Date.parse(iso));
}

function ago(iso: string, nowMs: number): string {
  return `${span(iso, nowMs)} ago`;
}

function count(howMany: number, singular: string, plural: string): string {
  return `${howMany} ${howMany === 1 ? singular : plural}`;
}
