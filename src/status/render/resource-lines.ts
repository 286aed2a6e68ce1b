import { formatDuration } from "../../base/units.ts";
import { earliest } from "../../state/sweeps.ts";
import type { ResourceHealth } from "../mirror-health.ts";

/** One column of the table: what a resource has there, and the same in words where there is no room for a table. */
interface StatusColumn {
  readonly head: string;
  readonly isNumber?: true;
  /** Empty: nothing to say. */
  readonly cell: (resource: ResourceHealth, nowMs: number) => string;
  readonly words: (cell: string) => string;
}

const columns: readonly StatusColumn[] = [
  {
    head: "rows",
    isNumber: true,
    cell: ({ live, expected }) =>
      expected !== null && live < expected ? `${live} of ${expected}` : `${live}`,
    words: (cell) => `${cell} rows`,
  },
  {
    head: "no detail",
    isNumber: true,
    cell: ({ provisional }) => countText(provisional),
    words: (cell) => `${cell} without their detail`,
  },
  {
    head: "unread",
    isNumber: true,
    cell: ({ parents_never_read: unread }) => countText(unread),
    words: (cell) => `lists of ${cell} parents never read`,
  },
  {
    head: "deleted",
    isNumber: true,
    cell: ({ deleted }) => countText(deleted),
    words: (cell) => `${cell} deleted`,
  },
  {
    head: "read whole",
    cell: ({ sweptAt }, nowMs) => ago(sweptAt, nowMs),
    words: (cell) => `read whole ${cell}`,
  },
  { head: "stalest", cell: stalestText, words: (cell) => `stalest detail or parent read ${cell} ago` },
];

function countText(count: number): string {
  return count > 0 ? String(count) : "";
}

function stalestText(resource: ResourceHealth, nowMs: number): string {
  const { oldest_detail_at: detail, oldest_parent_at: parent } = resource;
  const stalest = earliest([detail, parent].filter((at) => at !== null));
  if (stalest === null) return "";
  return span(stalest, nowMs);
}

/**
 * The tables of a mirror, aligned. Where the terminal is too narrow, without the last column; where that does not
 * help, each in words on lines of its own. Pure.
 */
export function resourceLines(
  resources: readonly ResourceHealth[],
  nowMs: number,
  width: number | null,
): string[] {
  const all = columns
    .map(({ cell, ...column }) => ({ ...column, cells: resources.map((one) => cell(one, nowMs)) }))
    .filter(({ cells }) => cells.some((cell) => cell !== ""));
  const names = resources.map(({ name }) => name);
  const room = width ?? Infinity;
  const fitting = [all, all.slice(0, -1)]
    .map((some) => alignedLines(names, some))
    .find((lines) => widest(lines) <= room);
  if (fitting) return fitting;
  return names.flatMap((name, at) => {
    const parts = all.map(({ cells, words }) => (cells[at] ? words(cells[at]) : ""));
    return [`  ${name}`, `    ${parts.filter((part) => part !== "").join(", ")}`];
  });
}

type FilledColumn = Pick<StatusColumn, "head" | "isNumber"> & { readonly cells: readonly string[] };

function alignedLines(names: readonly string[], filled: readonly FilledColumn[]): string[] {
  const padded = [{ head: "table", cells: names }, ...filled].map(({ head, cells, ...column }) => {
    const texts = [head, ...cells];
    const width = widest(texts);
    return texts.map((text) => ("isNumber" in column ? text.padStart(width) : text.padEnd(width)));
  });
  return ["table", ...names].map((_, at) => `  ${padded.map((column) => column[at]).join("  ")}`.trimEnd());
}

function widest(texts: readonly string[]): number {
  return Math.max(0, ...texts.map((text) => text.length));
}

/** `3m 10s ago`; `never` for null. */
export function ago(iso: string | null, nowMs: number): string {
  return iso === null ? "never" : `${span(iso, nowMs)} ago`;
}

/** `3m 10s`: since then. */
export function span(iso: string, nowMs: number): string {
  return formatDuration(nowMs - Date.parse(iso));
}
