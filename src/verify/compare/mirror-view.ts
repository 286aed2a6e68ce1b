import { MirrorError } from "../../base/errors.ts";
import { firstId, type RecordId } from "../../base/ids.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import { openTables } from "../../state/checks/open-tables.ts";
import { Parents } from "../../state/parents.ts";
import { decodeStored } from "../../store/apply/derive-rows.ts";
import { idsHeld, readHeld, type HeldRecord } from "../../store/apply/held-record.ts";
import { textOf, type DecodedRecord } from "../../store/apply/merge-rules.ts";
import { PreviewDifferences } from "../../store/apply/preview-differences.ts";
import type { ResourceTable } from "../../store/apply/resource-table.ts";
import type { Db } from "../../store/database.ts";
import { OddValue, type Cell } from "../../store/tables/row-decoder.ts";
import { Records } from "../../store/tables/stored-records.ts";

/** Records of one step of a walk: short enough that requests and timers get their turn. */
const idsAtOnce = 500;

/** A row that the mirror shows as live. */
export type LiveRecord = HeldRecord & { readonly cells: readonly Cell[] };

/** The mirror as `verify` reads it, also beside its writer and on a read-only connection. Writes nothing. */
export class MirrorView {
  readonly db: Db;
  readonly manifest: Manifest;
  readonly records: Records;
  readonly parents: Parents;
  private readonly differences: PreviewDifferences;
  private tables: ReadonlyMap<string, ResourceTable> = new Map();

  /** Throws MirrorError `database` where the tables are not those of this version. */
  constructor(db: Db, manifest: Manifest) {
    this.db = db;
    this.manifest = manifest;
    this.records = new Records(db);
    this.parents = new Parents(db);
    this.differences = new PreviewDifferences(db);
    this.reopen();
  }

  /** Finds columns that the writer has added since. Throws as the constructor. */
  reopen(): void {
    this.differences.begin();
    const { tables, unreadable } = openTables(this.db, this.manifest);
    const [first] = unreadable;
    if (first)
      throw new MirrorError("database", `${first.resource} cannot be compared: ${first.why}`, {
        hint: "Run `fintoro-mirror sync` once: it brings the tables up to date.",
      });
    this.tables = new Map(tables.map((table) => [table.resource.name, table]));
  }

  /** The plan and the statements of a resource; only those that read are used. */
  table(resource: string): ResourceTable {
    const table = this.tables.get(resource);
    if (!table) throw new Error(`broken promise: ${resource} has a table`);
    return table;
  }

  /** All that is held of a record, of one moment. */
  held(resource: string, id: RecordId): HeldRecord {
    const { statements } = this.table(resource);
    return this.db.transaction(() => readHeld(statements, id))();
  }

  /** The mirror's JSON of a record, decoded. */
  raw(resource: string, { json, fence }: HeldRecord): DecodedRecord | OddValue {
    if (json === undefined) return new OddValue("there is no JSON");
    return decodeStored(this.table(resource), json, fence?.source ?? "detail");
  }

  /** Columns that previews show differently from details: they are not compared. */
  uncompared(resource: string): ReadonlySet<string> {
    return this.differences.uncompared(resource);
  }

  /** The ids of all that is held of a resource, some at a time. */
  *ids(resource: string): Generator<readonly RecordId[]> {
    const { plan } = this.table(resource);
    for (let from: bigint | null = firstId; from !== null;) {
      const { ids, next } = idsHeld(this.db, plan, from, idsAtOnce);
      yield ids;
      from = next;
    }
  }
}

/** Is the record shown as live? */
export function isLiveRow(held: HeldRecord): held is LiveRecord {
  return held.cells !== undefined && held.deletedAt === null;
}

/** Is only the preview of the record known? */
export function isOfPreview({ fence }: HeldRecord): boolean {
  return fence?.source === "preview" && fence.gone === 0;
}

/** Changes with everything that a read writes, also where the read found nothing new. */
export function versionOf({ cells, children, json, deletedAt, detailAt, fence }: HeldRecord): string {
  const { received_seq: seq = null, gone = null } = fence ?? {};
  return textOf([cells ?? null, children, json ?? null, deletedAt, detailAt, seq, gone]);
}
