import { yieldToLoop } from "../../base/cancellation.ts";
import { firstId } from "../../base/ids.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import { absentOwnTables, FileCheck } from "../../state/checks/file-check.ts";
import { LastChanges } from "../../state/checks/last-changes.ts";
import { openTables } from "../../state/checks/open-tables.ts";
import type { ResourceTable } from "../../store/apply/resource-table.ts";
import { guarded, openDatabase, type Db } from "../../store/database.ts";
import { assertReadable } from "../../store/migrations/migrate.ts";
import { checkState } from "./check-state.ts";
import { RecordJudge } from "./judge-records.ts";
import { LocalFindings, repairHint, type LocalCheck } from "./local-check.ts";

/** How far a check is. */
interface LocalProgress {
  readonly resource: string;
  /** Records of this resource compared so far. */
  readonly records: number;
}

/** How a check reports and ends. */
export interface LocalCheckOptions {
  /** Called about ten times a second. */
  readonly onProgress?: ((progress: LocalProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Checks a mirror against itself: each record's row, child rows, JSON, fence and changes against each other. Sends no
 * request and writes nothing, so it may run beside the writer; everything is of one commit.
 *
 * @throws MirrorError `database` where there is no mirror, `stopped` when the signal aborted
 */
export async function checkLocally(
  path: string,
  manifest: Manifest,
  options: LocalCheckOptions = {},
): Promise<LocalCheck> {
  const db = openDatabase(path, { readonly: true });
  try {
    db.exec("BEGIN");
    const findings = new LocalFindings();
    if (await checkFile(db, findings)) {
      await checkRecords(db, manifest, findings, options);
      checkState(db, manifest, findings);
    }
    return findings.result();
  } finally {
    guarded(path, () => db.close());
  }
}

/** False: nothing more can be read. */
async function checkFile(db: Db, findings: LocalFindings): Promise<boolean> {
  const lines = new FileCheck(db).integrity();
  const hint =
    "Restore a backup, or move the file away and sync anew. Damaged indexes are made anew by `--repair`.";
  for (const line of lines) findings.problems.push({ kind: "integrity", message: line, hint });
  if (!lines.every(isOfIndex)) return false;
  assertReadable(db);
  const absent = absentOwnTables(db);
  for (const { type, name } of absent)
    findings.problems.push({
      kind: "schema",
      message: `the ${type} ${name} is not there or lacks a column.`,
      hint: repairHint,
    });
  return absent.every(({ type }) => type === "index");
}

/** Is it an index that is damaged, and not the rows? */
export function isOfIndex(line: string): boolean {
  return / index /.test(line);
}

async function checkRecords(
  db: Db,
  manifest: Manifest,
  findings: LocalFindings,
  options: LocalCheckOptions,
): Promise<void> {
  const { tables, unreadable } = openTables(db, manifest);
  const last = new LastChanges(db);
  const judge = new RecordJudge(tables, last);
  for (const { resource, why } of unreadable)
    findings.problems.push({
      kind: "schema",
      message: `${resource}: the rows cannot be compared: ${why}.`,
      hint: "Run `verify --local --repair` or `sync`: opening the mirror for writing derives them again.",
    });
  for (const table of tables) {
    await checkTable(judge, table, findings, options);
    for (const id of last.unheld(table.resource.name, firstId, mostUnheld))
      findings.add(table.resource.name, { list: "missing", id });
  }
}

/** As many as are named of a resource. */
const mostUnheld = 1_001;

async function checkTable(
  judge: RecordJudge,
  table: ResourceTable,
  findings: LocalFindings,
  { onProgress, signal }: LocalCheckOptions,
): Promise<void> {
  const { name } = table.resource;
  const check = findings.of(name);
  let records = 0;
  for (let from: bigint | null = firstId; from !== null;) {
    const part = judge.part(table, from);
    for (const { resource, found } of part.wrong) for (const one of found) findings.add(resource, one);
    check.mirror += part.live;
    records += part.records;
    findings.records += part.records;
    from = part.next;
    onProgress?.({ resource: name, records });
    await yieldToLoop(signal, `stopped while ${name} were compared`);
  }
}
