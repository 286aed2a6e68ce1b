import { messageOf } from "../../base/errors.ts";
import { recordId, type RecordId } from "../../base/ids.ts";
import { snakeCase } from "../../base/names.ts";
import { resourceNamed } from "../../connector/connector-manifest.ts";
import type { Resource } from "../../connector/resource.ts";
import { InvalidError, NotFoundError } from "../../connector/service-errors.ts";
import { readParts } from "../../extract/answers.ts";
import type { Fence } from "../../store/apply/merge-rules.ts";
import { ownerColumns } from "../../sync/deletion/removal.ts";
import { countsOf, suspect, type Comparison, type DeepRead } from "./comparison.ts";
import { readFresh, type FreshLists } from "./fresh-record.ts";
import { compareRecord } from "../compare/compare-record.ts";
import type { MirrorView } from "../compare/mirror-view.ts";
import { readOneList } from "../service/list-reading.ts";
import { ReadRefused } from "../service/service-reader.ts";

/** Another text after each change of what the mirror holds of a read's records. */
export function lastChangesOf(view: MirrorView, read: DeepRead): string {
  const { statements, resource } = view.table(read.listOf ?? read.resource);
  const ids = read.listOf === null ? [read.id] : listedIds(view, resource, read);
  const fences = ids.map((id) => statements.selectFence.get(id) as Fence | undefined);
  return JSON.stringify(fences.map((fence) => fence?.last_change ?? null));
}

/** The records that the list of a parent shows, as the mirror knows them. */
function listedIds(
  { records }: MirrorView,
  { name, list }: Resource,
  { resource, id }: DeepRead,
): RecordId[] {
  const link = list.kind === "parents" && list.parents.find((one) => one.resource === resource);
  return link ? records.liveIdsWhere(name, { [snakeCase(link.field)]: id }) : [];
}

/** Compares a detail, or the list of a parent, with the mirror: what seems to differ is a suspect. */
export async function compareDeepRead(
  comparison: Comparison,
  read: DeepRead,
  fresh: FreshLists,
): Promise<void> {
  const { view } = comparison;
  const resource = resourceNamed(view.manifest, read.listOf ?? read.resource);
  countsOf(comparison, resource.name).details += 1;
  if (read.listOf !== null) return compareParentList(comparison, resource, read);
  const { id } = read;
  const shown = await readFresh(comparison, resource, id, fresh);
  const held = view.held(resource.name, id);
  if (compareRecord(view, resource, held, shown).kind !== "equal") suspect(comparison, resource.name, id);
  if (shown.kind === "shown") compareOwned(comparison, resource, id, shown.slice);
}

/** A detail holds the complete set of the records that it owns. */
function compareOwned(comparison: Comparison, owner: Resource, id: RecordId, slice: Buffer): void {
  const { view } = comparison;
  for (const { field, resource: name } of view.table(owner.name).plan.owned) {
    const owned = resourceNamed(view.manifest, name);
    const columns = ownerColumns(owned, owner, id);
    const parts = readParts(slice, field);
    if (!columns || !parts) continue;
    const ours = new Set(view.records.liveIdsWhere(name, columns));
    for (const { id: text, slice: part } of parts) {
      const partId = text === null ? null : recordId(text);
      if (partId === null) continue;
      const verdict = compareRecord(view, owned, view.held(name, partId), { kind: "shown", slice: part });
      if (!ours.delete(partId) || verdict.kind !== "equal") suspect(comparison, name, partId);
    }
    for (const extra of ours) suspect(comparison, name, extra);
  }
}

async function compareParentList(comparison: Comparison, resource: Resource, read: DeepRead): Promise<void> {
  const { view, reader, uncompared } = comparison;
  const { resource: parent, id } = read;
  const { name } = resource;
  const take = (one: RecordId, slice: Buffer) => {
    const verdict = compareRecord(view, resource, view.held(name, one), { kind: "shown", slice });
    if (verdict.kind !== "equal") suspect(comparison, name, one);
  };
  try {
    const { ids } = await readOneList(reader, resource, { parent, parentId: String(id) }, take);
    for (const one of listedIds(view, resource, read)) if (!ids.has(one)) suspect(comparison, name, one);
  } catch (error) {
    if (!(error instanceof ReadRefused)) throw error;
    // The list of a parent that is gone is refused.
    const { reason } = error;
    if (reason instanceof NotFoundError || reason instanceof InvalidError) suspect(comparison, parent, id);
    else
      uncompared.push({
        resource: name,
        id: null,
        message: `the list of ${parent} ${id}: ${messageOf(error)}`,
      });
  }
}
