import { hash } from "node:crypto";
import type { RecordId } from "../../base/ids.ts";
import type { Resource } from "../../connector/resource.ts";
import { valueOf } from "../../json/cut.ts";
import { isObject, type JsonObject } from "../../json/literal.ts";
import { parseLossless } from "../../json/lossless.ts";
import { cellsOf, isPresent, nullIfOdd } from "../tables/row-decoder.ts";
import type { Cell, Row, UnknownKey } from "../tables/row-decoder.ts";
import { knownRow, type Column, type RowPlan, type TablePlan } from "../tables/table-plan.ts";
import { isKnown } from "../tables/unknown-columns.ts";
import { textOf, type DecodedRecord } from "./merge-rules.ts";
import type { ListedAs, PreviewResult } from "./read-stamp.ts";
import type { TableContext } from "./table-context.ts";

export type CellsByName = ReadonlyMap<string, Cell>;

/** What the previews of one resource show, and how they are compared with rows. Writes no row. */
export class Previews {
  private readonly context: TableContext;
  private readonly resource: string;
  private readonly plan: TablePlan;
  private readonly previewPlan: RowPlan;
  /** What previews show of the row: columns with their places in a preview's cells and in the row's. */
  private readonly shown: readonly { readonly column: Column; readonly from: number; readonly at: number }[];

  constructor(context: TableContext, resource: Resource, plan: TablePlan) {
    this.context = context;
    this.resource = resource.name;
    this.plan = plan;
    this.previewPlan = knownRow(resource.previewFields ?? resource.fields);
    const places = new Map(plan.columns.map(({ name }, at) => [name, at]));
    this.shown = this.previewPlan.columns.flatMap((column, from) => {
      const at = places.get(column.name);
      return at === undefined ? [] : [{ column, from, at }];
    });
  }

  /** Parses a preview; null: its values are odd. Keys that have no place in the record's table are reported. */
  decode(slice: Buffer) {
    const record = parseLossless(slice);
    if (!isObject(record)) return null;
    const unknown: UnknownKey[] = [];
    const cells = nullIfOdd(() => this.cells(record, unknown));
    if (!cells) return null;
    const unkept = unknown.filter(({ path }) => !isKnown(this.plan.root, path));
    const paths = unkept.map(({ path }) => path.join("."));
    this.context.notices.unkept(this.resource, paths);
    return { record, cells };
  }

  /** What a preview shows. Keys without a column are added to `unknown`. Throws OddValue. */
  cells(preview: JsonObject, unknown: UnknownKey[] = []): CellsByName {
    const cells = cellsOf(this.previewPlan, preview, unknown);
    const shared = this.shown.flatMap(({ column, from }) =>
      isPresent(column, preview) ? [[column.name, cells[from] ?? null] as const] : [],
    );
    return new Map(shared);
  }

  /** The provisional row of these values: null where the preview shows nothing, and no children. */
  row(shown: CellsByName): Row {
    const cells = this.plan.columns.map(({ name }) => shown.get(name) ?? null);
    return { cells, children: this.plan.children.map(() => []), unknown: [], missing: [] };
  }

  /** How a list showed a record; `cells` are null where its values are odd. */
  listedAs(sha: string, cells: CellsByName | null): ListedAs {
    const uncompared = this.uncompared();
    const compared = cells ? [...cells].filter(([name]) => !uncompared.has(name)) : null;
    return { sha, key: compared ? keyOf(compared.map(([, cell]) => cell)) : "" };
  }

  /** The SHA-1 of the preview that led to this detail, if the detail shows the same values; otherwise null. */
  coveredSha(listed: ListedAs | undefined, row: Row | null): string | null {
    if (!listed || !row) return null;
    const uncompared = this.uncompared();
    const compared = this.shown.filter(({ column }) => !uncompared.has(column.name));
    const key = keyOf(compared.map(({ at }) => row.cells[at] ?? null));
    return key === listed.key ? listed.sha : null;
  }

  /** Why the detail of a row must be read again; null where the row has every value that the preview shows. */
  compare(id: RecordId, stored: CellsByName, sha: string, slice: Buffer): PreviewResult["read"] {
    const cells = this.decode(slice)?.cells ?? null;
    const listed = this.listedAs(sha, cells);
    if (!cells) return { reason: "changed", listed };
    const contradicting = [...cells].flatMap(([name, cell]) =>
      name === "id" || isSameCell(stored.get(name) ?? null, cell) ? [] : [name],
    );
    this.context.differences.forget(this.resource, id, contradicting);
    const uncompared = this.uncompared();
    const differing = contradicting.filter((column) => !uncompared.has(column));
    return differing.length === 0 ? null : { reason: "changed", listed: { ...listed, differing } };
  }

  /**
   * A preview contradicted the row in these columns, and a detail that was sent after it says what the row said:
   * notes the columns that previews show differently. `decoded` is null where the detail changed nothing.
   */
  noteDifferences(
    id: RecordId,
    columns: readonly string[],
    stored: CellsByName,
    decoded: DecodedRecord | null,
  ): void {
    const { differences, notices } = this.context;
    for (const [i, { name }] of this.plan.columns.entries()) {
      if (!columns.includes(name)) continue;
      const kept = !decoded || isSameCell(stored.get(name) ?? null, decoded.row.cells[i] ?? null);
      if (kept && differences.note(this.resource, name, id)) notices.uncompared(this.resource, name);
    }
  }

  private uncompared(): ReadonlySet<string> {
    return this.context.differences.uncompared(this.resource);
  }
}

/** Integers read back from SQLite are bigints; 5 and 5n are the same cell. */
function isSameCell(a: Cell, b: Cell): boolean {
  return (typeof a === "string") === (typeof b === "string") && String(a) === String(b);
}

function keyOf(cells: readonly Cell[]): string {
  return hash("sha1", textOf(cells));
}

/** Does a list show all of this record? Else it shows a preview. */
export function isShownWhole({ gives, fullWhen = [] }: Resource, slice: Buffer): boolean {
  return gives === "full" && fullWhen.every((key) => valueOf(slice, key) !== null);
}
