import { earliest } from "../../state/sweeps.ts";
import type { ResourceHealth } from "../mirror-health.ts";
import { formatDuration } from "../../base/units.ts";

/** One column of the table: what a resource has there; empty: nothing to say. */
type StatusColumn = readonly [
  head: string,
  isNumber: boolean,
  cell: (resource: ResourceHealth, nowMs: number) => string,
];

const columns: readonly StatusColumn[] = [
  ["table", false, ({ name }) => name],
  [
    "rows",
    true,
    ({ live, expected }) => (expected !== null && live < expected ? `${live} of ${expected}` : `${live}`),
  ],
  ["no detail", true, ({ provisional }) => countText(provisional)],
  ["unread", true, ({ parents_never_read: unread }) => countText(unread)],
  ["deleted", true, ({ deleted }) => countText(deleted)],
  ["read whole", false, ({ sweptAt }, nowMs) => ago(sweptAt, nowMs)],
  ["stalest", false, stalestText],
];

function countText(count: number): string {
  return count > 0 ? String(count) : "";
}

function stalestText({ oldest_detail_at: detail, oldest_parent_at: parent }: ResourceHealth, nowMs: number) {
  const stalest = earliest([detail, parent].filter((at) => at !== null));
  return stalest === null ? "" : span(stalest, nowMs);
}

/** The tables of a mirror, aligned; without as many of the last columns as the terminal is too narrow for. Pure. */
export function resourceLines(
  resources: readonly ResourceHealth[],
  nowMs: number,
  width: number | null,
): string[] {
  const filled = columns
    .map(([head, isNumber, cell]) => ({ head, isNumber, cells: resources.map((one) => cell(one, nowMs)) }))
    .filter(({ cells }) => cells.some((cell) => cell !== ""));
  const padded = filled.map(({ head, isNumber, cells }) => {
    const texts = [head, ...cells];
    const most = Math.max(...texts.map((text) => text.length));
    return texts.map((text) => (isNumber ? text.padStart(most) : text.padEnd(most)));
  });
  const lineOf = (row: number, count: number) =>
    `  ${padded
      .slice(0, count)
      .map((column) => column[row])
      .join("  ")}`.trimEnd();
  const rows = ["head", ...resources].map((_, row) => row);
  let count = padded.length;
  while (count > 2 && rows.some((row) => lineOf(row, count).length > (width ?? Infinity))) count--;
  return rows.map((row) => lineOf(row, count));
}

/** `3m 10s ago`; `never` for null. */
export function ago(iso: string | null, nowMs: number): string {
  return iso === null ? "never" : `${span(iso, nowMs)} ago`;
}

/** `3m 10s`: since then. */
export function span(iso: string, nowMs: number): string {
  return formatDuration(nowMs - Date.parse(iso));
}
