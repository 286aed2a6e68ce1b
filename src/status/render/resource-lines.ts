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
    head: "unread lists",
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
  { head: "stalest", cell: stalestText, words: (cell) => `stalest ${cell}` },
];

function countText(count: number): string {
  return count > 0 ? String(count) : "";
}

function stalestText(resource: ResourceHealth, nowMs: number): string {
  const { oldest_detail_at: detail, oldest_parent_at: parent } = resource;
  const stalest = earliest([detail, parent].filter((at) => at !== null));
  if (stalest === null) return "";
  return `${detail === stalest ? "detail" : "parent's list"} ${ago(stalest, nowMs)}`;
}

/** The tables of a mirror, aligned; where the terminal is too narrow for that, each in words on lines of its own. Pure. */
export function resourceLines(
  resources: readonly ResourceHealth[],
  nowMs: number,
  width: number | null,
): string[] {
  const rows = resources.map((resource) => columns.map(({ cell }) => cell(resource, nowMs)));
  const used = columns
    .map((column, index) => ({ ...column, index }))
    .filter(({ index }) => rows.some((row) => row[index] !== ""));
  const names = resources.map(({ name }) => name);
  const cells = [
    used.map(({ head }) => head),
    ...rows.map((row) => used.map(({ index }) => row[index] ?? "")),
  ];
  const widths = used.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  const nameWidth = Math.max(0, ...names.map((name) => name.length));
  const lines = cells.map((row, at) => {
    const padded = row.map((cell, i) =>
      used[i]?.isNumber ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0),
    );
    return `  ${[(["table", ...names][at] ?? "").padEnd(nameWidth), ...padded].join("  ")}`.trimEnd();
  });
  if (width === null || Math.max(...lines.map((line) => line.length)) <= width) return lines;
  return rows.flatMap((row, at) => {
    const parts = used.flatMap(({ index, words }) => (row[index] === "" ? [] : [words(row[index] ?? "")]));
    return [`  ${names[at]}`, `    ${parts.join(", ")}`];
  });
}

/** `3m 10s ago`; `never` for null. */
export function ago(iso: string | null, nowMs: number): string {
  return iso === null ? "never" : `${span(iso, nowMs)} ago`;
}

/** `3m 10s`: since then. */
export function span(iso: string, nowMs: number): string {
  return formatDuration(nowMs - Date.parse(iso));
}
