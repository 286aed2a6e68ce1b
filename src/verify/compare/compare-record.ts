import { snakeCase } from "../../base/names.ts";
import type { Resource } from "../../connector/resource.ts";
import { isShownWhole } from "../../extract/answers.ts";
import { decodeStored } from "../../store/apply/derive-rows.ts";
import { isAsReceived, type HeldRecord } from "../../store/apply/held-record.ts";
import type { DecodedRecord } from "../../store/apply/merge-rules.ts";
import type { CellsByName } from "../../store/apply/previews.ts";
import { OddValue } from "../../store/tables/row-decoder.ts";
import { recordDifferences, rowDifferences, type FieldDifference } from "./differences.ts";
import { isLiveRow, isOfPreview, type MirrorView } from "./mirror-view.ts";

/** What the service says of one record. */
export type Shown =
  | { readonly kind: "shown"; readonly slice: Buffer }
  | { readonly kind: "absent" }
  | { readonly kind: "unreadable"; readonly why: string };

/** How the mirror's record compares. `extra`: the mirror shows what the service does not, or never said. */
export type Verdict =
  | { readonly kind: "equal" }
  | { readonly kind: "missing" | "tombstoned" }
  | { readonly kind: "extra"; readonly why: string }
  | { readonly kind: "different"; readonly fields: readonly FieldDifference[] }
  | { readonly kind: "unreadable"; readonly why: string };

/** Why a live row is extra; each other reason is about a record that the service may have, or that no row shows. */
export const notAtService = "the service does not have it";

const equal = { kind: "equal" } as const;

/** Compares a record with what its own route, or a list of full records, shows. Reads nothing. */
export function compareRecord(view: MirrorView, resource: Resource, held: HeldRecord, shown: Shown): Verdict {
  if (shown.kind === "unreadable") return shown;
  if (shown.kind === "absent") return judgeAbsent(view, resource, held);
  if (!isLiveRow(held))
    return { kind: held.deletedAt !== null || held.fence?.gone === 1 ? "tombstoned" : "missing" };
  if (held.json === undefined) return { kind: "extra", why: "a row without the record that it was made of" };
  const service = decodeStored(view.table(resource.name), shown.slice, "detail");
  if (service instanceof OddValue)
    return { kind: "unreadable", why: `the service's record cannot become a row: ${service.message}` };
  const fields = isOfPreview(held)
    ? provisionalDifferences(view, resource, held, service)
    : wholeDifferences(view, resource, held, service);
  if (fields.length === 0) return equal;
  // Of a row that is as it was received.
  const isOld = isSound(view, resource, held);
  const lasting = fields.filter(({ field }) => !isOld || !isVolatile(resource, field));
  return lasting.length === 0 ? equal : { kind: "different", fields: lasting };
}

/** Does the service change this field all the time, so that it says nothing about the mirror? */
function isVolatile({ volatile = [] }: Resource, field: string): boolean {
  return volatile.some((one) => snakeCase(one) === field.replace(/^_raw\./, ""));
}

function judgeAbsent(view: MirrorView, { name }: Resource, held: HeldRecord): Verdict {
  if (isLiveRow(held)) return { kind: "extra", why: notAtService };
  const { children } = view.table(name).plan;
  const table = children.find((_, i) => (held.children[i]?.length ?? 0) > 0)?.table;
  if (table !== undefined) return { kind: "extra", why: `rows of ${table} without their record` };
  const isClaimed = held.fence?.gone === 0;
  return isClaimed ? { kind: "extra", why: "the mirror takes it for live, without a row" } : equal;
}

function wholeDifferences(
  view: MirrorView,
  { name }: Resource,
  held: HeldRecord,
  service: DecodedRecord,
): FieldDifference[] {
  return recordDifferences(view.table(name), held, view.raw(name, held), service);
}

/** A provisional row is compared in what its preview showed. */
function provisionalDifferences(
  view: MirrorView,
  { name }: Resource,
  held: HeldRecord,
  service: DecodedRecord,
): FieldDifference[] {
  const raw = view.raw(name, held);
  if (raw instanceof OddValue) return [{ field: "_raw", mirror: raw.message, service: "a preview" }];
  return shownDifferences(view, name, held, service, view.table(name).previews.cells(raw.record));
}

/** Of these columns those that differ, unless previews show them differently from details. */
function shownDifferences(
  view: MirrorView,
  name: string,
  held: HeldRecord,
  service: DecodedRecord,
  shown: CellsByName,
): FieldDifference[] {
  const uncompared = view.uncompared(name);
  return rowDifferences(view.table(name), held, service).filter(
    ({ field }) => shown.has(field) && !uncompared.has(field),
  );
}

/** Does what a list shows of a record differ from the mirror? Odd values differ; they are asked for again. */
export function differsFromListed(
  view: MirrorView,
  resource: Resource,
  held: HeldRecord,
  slice: Buffer,
): boolean {
  if (!isLiveRow(held)) return true;
  const { name } = resource;
  if (isShownWhole(resource, slice))
    return compareRecord(view, resource, held, { kind: "shown", slice }).kind !== "equal";
  const { previews } = view.table(name);
  const shown = previews.decode(slice);
  if (!shown) return true;
  const service = { record: shown.record, row: previews.row(shown.cells) };
  return shownDifferences(view, name, held, service, shown.cells).length > 0;
}

/** Do a record's row, child rows, JSON and tombstone fit together? */
export function isSound(view: MirrorView, { name }: Resource, held: HeldRecord): boolean {
  const { fence, json, cells, children } = held;
  if (!isLiveRow(held)) {
    const hasParts = children.some((rows) => rows.length > 0);
    return !hasParts && fence?.gone !== 0 && (cells !== undefined || json === undefined);
  }
  const raw = view.raw(name, held);
  if (fence?.gone === 1 || raw instanceof OddValue || isAsReceived(held) === false) return false;
  return rowDifferences(view.table(name), held, raw).length === 0;
}
