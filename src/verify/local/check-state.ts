import type { Manifest } from "../../connector/connector-manifest.ts";
import { ChangeLogCheck } from "../../state/checks/change-log-check.ts";
import { FileCheck } from "../../state/checks/file-check.ts";
import { InboxCheck } from "../../state/checks/inbox-check.ts";
import { QueueCheck } from "../../state/checks/queue-check.ts";
import { EventIds } from "../../state/inbox/event-ids.ts";
import { Meta } from "../../state/meta.ts";
import type { Db } from "../../store/database.ts";
import type { LocalFindings, LocalProblem } from "./local-check.ts";
import { repairHint } from "./local-check.ts";
import { oddWork } from "./odd-work.ts";

/** One more than are named of a resource, and of anything else. */
const mostFound = 1_001;
const mostNamed = 10;

/** Checks what stands beside the records: change log, queue, inbox, listings, sequence. */
export function checkState(db: Db, manifest: Manifest, findings: LocalFindings): void {
  const log = new ChangeLogCheck(db);
  for (const { resource, recordId, next, following, op } of log.broken(mostFound)) {
    const [mirror, raw] = next === following ? [op, null] : [next, following];
    findings.add(resource, { list: "different", id: recordId, field: "_changes", mirror, raw });
  }
  const reads = log.lostReads(mostFound);
  const add = (
    kind: LocalProblem["kind"],
    what: string,
    names: readonly (string | number)[],
    hint: string,
  ) => {
    if (names.length > 0) findings.problems.push({ kind, message: `${what}: ${few(names)}.`, hint });
  };
  add("change log", "changes name reads that are not there", reads, repairHint);
  const odd = [...oddWork(new QueueCheck(db), manifest)].map(
    ({ row, why }) => `${row.resource} ${row.target} (${why})`,
  );
  add("queue", "work that nothing can read", odd, repairHint);
  checkInbox(db, add);
  const lists = new QueueCheck(db).brokenListings().map(({ resource, variant }) => `${resource} ${variant}`);
  add("listing", "open lists without their pages, or pages without their list", lists, repairHint);
  const file = new FileCheck(db);
  add(
    "schema",
    "own facts that are no JSON",
    file.oddFacts(),
    "Restore a backup, or sync into a new folder.",
  );
  const names = manifest.resources.map(({ name }) => name);
  const received = file.lastReceivedSeq(names);
  if (received > Number(new Meta(db).get("seq") ?? 0))
    add("sequence", "reads were numbered beyond the end of the sequence", [received], repairHint);
}

type AddProblem = (
  kind: LocalProblem["kind"],
  what: string,
  names: readonly (string | number)[],
  hint: string,
) => void;

function checkInbox(db: Db, add: AddProblem): void {
  const inbox = new InboxCheck(db);
  const misfiled = new EventIds(db).misfiled();
  add("inbox", "events wait for a read that is not queued", inbox.lost(mostFound), repairHint);
  add("inbox", "events in a state that does not exist", inbox.odd(mostFound), repairHint);
  add("inbox", "events that are stored more than once", inbox.repeated(mostFound), repairHint);
  add("inbox", "events that are not filed under their id", misfiled === null ? [] : [misfiled], repairHint);
}

function few(names: readonly (string | number)[]): string {
  const shown = names.slice(0, mostNamed).join(", ");
  const count = names.length >= mostFound ? `more than ${mostFound - 1}` : String(names.length);
  return names.length > mostNamed ? `${count} in all, ${shown}, …` : shown;
}
