import { formatDuration } from "../../base/units.ts";
import { eventsOverdue, type EventStatus } from "../event-status.ts";

/** What `status` prints of events; nothing where none was ever received and no receiver ever ran. Pure. */
export function eventLines(events: EventStatus, nowMs: number): string[] {
  if (events.listeningSince === null && events.lastReceivedAt === null) return commandLines(events, nowMs);
  return [
    ...waitingLines(events, nowMs),
    ...oddLines(events),
    ...receiverLines(events, nowMs),
    ...serviceLines(events, nowMs),
    ...commandLines(events, nowMs),
  ];
}

function waitingLines(events: EventStatus, nowMs: number): string[] {
  const { counts, waitingSince, lastReceivedAt, stuck } = events;
  const last =
    lastReceivedAt === null
      ? "none was ever received"
      : `the last was received ${ago(lastReceivedAt, nowMs)}`;
  const waiting =
    waitingSince === null
      ? "none waits"
      : `${count(counts.waiting ?? 0, "waits", "wait")}, the oldest received ${ago(waitingSince, nowMs)}`;
  const mark = eventsOverdue(events, nowMs) ? "! " : "";
  const given = `${count(stuck, "event waits", "events wait")} for records that could not be read (see above)`;
  return [`  ${mark}events: ${waiting}; ${last}`, ...(stuck > 0 ? [`  ! ${given}`] : [])];
}

function oddLines({ counts, unknownTypes }: EventStatus): string[] {
  const types = unknownTypes.map((one) => `${one.type ?? "without a type"} (${one.count})`).join(", ");
  const { unknown = 0, unreadable = 0 } = counts;
  const unknownEvents = count(unknown, "event of an unknown type is", "events of unknown types are");
  const odd = count(
    unreadable,
    "signed delivery that is no event is",
    "signed deliveries that are no events are",
  );
  return [
    ...(unknown > 0 ? [`  ${unknownEvents} kept: ${types}`] : []),
    ...(unreadable > 0 ? [`  ${odd} kept`] : []),
  ];
}

function receiverLines(events: EventStatus, nowMs: number): string[] {
  const { listening, listeningSince, gaps, mayBeLost } = events;
  if (listeningSince === null) return ["  receiver: none has run yet"];
  const open = gaps.find(({ to }) => to === null);
  const state = listening
    ? `listening for ${span(listeningSince, nowMs)}`
    : `none is listening${open ? `, for ${span(open.from, nowMs)}: ${causes[open.cause]}` : ""}`;
  const lost = mayBeLost ? [`  ! ${lossLine(listening)}`] : [];
  return [`  receiver: ${state}${pastGaps(events)}`, ...lost];
}

const causes = { stopped: "serve was stopped", killed: "serve was killed" };

function lossLine(listening: boolean): string {
  const remedy = listening ? "serve starts a run by itself" : "`fintoro-mirror sync` finds what is missing";
  return `events may have been lost while no receiver was listening, and no complete run began since; ${remedy}`;
}

function pastGaps({ gaps }: EventStatus): string {
  const lengths = gaps.flatMap(({ from, to }) => (to === null ? [] : [Date.parse(to) - Date.parse(from)]));
  if (lengths.length === 0) return "";
  const longest = formatDuration(Math.max(...lengths));
  return `; ${count(lengths.length, "gap", "gaps")} in the last 7 days, the longest ${longest}`;
}

/** The note of the daemon is valid only while it runs. */
function serviceLines({ listening, service }: EventStatus, nowMs: number): string[] {
  if (!listening || service === null) return [];
  const { state, message, since } = service;
  const mark = state === "working" || state === "starting" ? "" : "! ";
  return [`  ${mark}service: ${state} for ${span(since, nowMs)}${message === null ? "" : `: ${message}`}`];
}

function commandLines({ orders }: EventStatus, nowMs: number): string[] {
  return orders.map(
    ({ kind, askedAt, pid, state }) =>
      `  command: ${kind} for process ${pid}, sent ${ago(askedAt, nowMs)}: ${state}`,
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
