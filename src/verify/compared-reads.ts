import { appendFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dayMs, elapsedSince, isoTime, type Clock } from "../base/clock.ts";
import { valueOr } from "../base/errors.ts";
import type { AskedRead } from "./service-copy.ts";

/** The file's first line: of what the comparison is. */
interface Head {
  readonly mirror: string | null;
  /** The command: `verify --all`. */
  readonly by: string;
  readonly since: string;
}

/**
 * Details and lists of parents that were compared and are equal: an interrupted comparison continues with the others.
 *
 * Guarantee: a read is in it only after it was compared, and counts only for the same command, within a day after the
 * interruption, and while the mirror's records are those that were compared.
 * Source of truth: the file: its first line says of what the comparison is, each other one is a read.
 * Worst outcome of a crash: a read whose line is cut is compared again.
 */
export function comparedReads(file: string, { mirror, by }: Omit<Head, "since">, clock: Clock) {
  const nowMs = clock.nowMs();
  const isKept = existsSync(file) && elapsedSince(statSync(file).mtimeMs, nowMs) < dayMs;
  const [head, ...reads] = isKept ? linesOf(file) : [];
  const earlier = head as Head | undefined;
  const continued = earlier?.mirror === mirror && earlier.by === by ? earlier : null;
  const states = new Map(continued ? (reads as [string, string][]) : []);
  const first: Head = { mirror, by, since: isoTime(nowMs) };
  if (!continued) writeFileSync(file, `${JSON.stringify(first)}\n`, { mode: 0o600 });
  return {
    /** When the comparison began that is continued, ISO; null: it begins anew. */
    since: continued?.since ?? null,
    /** @param state another text after each change of what the mirror holds of the read's records */
    has: (read: AskedRead, state: string) => states.get(keyOf(read)) === state,
    /** Notes that the read was compared, and is equal. */
    add: (read: AskedRead, state: string) =>
      appendFileSync(file, `${JSON.stringify([keyOf(read), state])}\n`),
    /** Called when the comparison is complete: the next one begins anew. */
    finish: () => rmSync(file, { force: true }),
  };
}

export type ComparedReads = ReturnType<typeof comparedReads>;

function keyOf({ resource, id, listOf }: AskedRead): string {
  return `${resource} ${id} ${listOf ?? ""}`;
}

/** A line that was cut says nothing. */
function linesOf(file: string): unknown[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line) => valueOr(() => [JSON.parse(line) as unknown], []));
}
