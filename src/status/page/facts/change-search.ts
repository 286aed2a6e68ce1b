import { recordId } from "../../../base/ids.ts";
import { Changes, type Change } from "../../../store/apply/change-log.ts";
import type { Db } from "../../../store/database.ts";

/** What somebody looks for in the change log. */
export interface ChangeQuestion {
  /** A number is a record's id, or stands in the text of a record; "": anything. */
  readonly text: string;
  /** Null: all. */
  readonly resource: string | null;
  /** Only changes before this one; null: all. */
  readonly beforeSeq: number | null;
}

/** Changes that were found, the newest first. */
export interface FoundChanges {
  readonly changes: readonly Change[];
  /** Where to go on; null: everything was searched. */
  readonly nextSeq: number | null;
  /** How many changes were looked at. */
  readonly searched: number;
}

/** What one search may cost: further ones go on where it ended. */
const searchLimits = { found: 30, steps: 40, perStep: 500, ms: 300 };

/** Searches the newest changes first, in steps: whatever else the thread has to do comes between them. */
export async function searchChanges(db: Db, question: ChangeQuestion): Promise<FoundChanges> {
  const log = new Changes(db);
  const first = log.firstSeq();
  const start = Math.min(question.beforeSeq ?? Infinity, log.lastSeq() + 1);
  const untilMs = performance.now() + searchLimits.ms;
  const changes: Change[] = [];
  let beforeSeq = start;
  for (let step = 0; beforeSeq > first && step < searchLimits.steps && performance.now() < untilMs; step++) {
    const fromSeq = log.seqBefore(beforeSeq, searchLimits.perStep);
    const found = findIn(log, question, { fromSeq, beforeSeq });
    const room = searchLimits.found - changes.length;
    changes.push(...found.slice(0, room));
    const last = found[room - 1];
    beforeSeq = found.length >= room && last ? last.seq : fromSeq;
    if (changes.length >= searchLimits.found) break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  const searched = log.countBetween(beforeSeq, start);
  return { changes, nextSeq: beforeSeq > first ? beforeSeq : null, searched };
}

function findIn(
  log: Changes,
  { text, resource }: ChangeQuestion,
  range: { readonly fromSeq: number; readonly beforeSeq: number },
): Change[] {
  const wanted = text.trim().toLowerCase();
  const most = wanted === "" ? searchLimits.found : searchLimits.perStep;
  const all = log.newestIn({ ...range, resource, most });
  if (wanted === "") return all;
  const id = recordId(wanted);
  return all.filter((change) => change.recordId === id || textOf(change).includes(wanted));
}

/** Of the record before and after; a service may send letters as `\u017e`. */
function textOf({ before, after }: Change): string {
  return [before, after]
    .map((json) => plain(json ?? ""))
    .join("\n")
    .toLowerCase();
}

function plain(json: string): string {
  try {
    return /\\[u/]/.test(json) ? JSON.stringify(JSON.parse(json)) : json;
  } catch {
    return json;
  }
}
