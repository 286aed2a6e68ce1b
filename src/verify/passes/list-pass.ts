import { yieldToLoop } from "../../base/cancellation.ts";
import { messageOf } from "../../base/errors.ts";
import type { RecordId } from "../../base/ids.ts";
import { snakeCase } from "../../base/names.ts";
import type { Resource } from "../../connector/resource.ts";
import { isShownWhole } from "../../extract/answers.ts";
import { integerOf } from "../../json/literal.ts";
import type { HeldRecord } from "../../store/apply/held-record.ts";
import { dataColumns } from "../../store/tables/table-layout.ts";
import { countsOf, suspect, type Comparison, type DeepRead } from "./comparison.ts";
import { differsFromListed, isSound } from "../compare/compare-record.ts";
import { readLists, type ListShown } from "../service/list-reading.ts";
import { ReadRefused } from "../service/service-reader.ts";
import { isLiveRow, isOfPreview } from "../compare/mirror-view.ts";

/** Where a list cannot be read whole, no more records than this are asked for because it does not show them. */
const mostAbsent = 200;

/** Records that a route is tried with. */
const mostExamples = 3;

/**
 * Compares one resource with its lists, and each of its records in the mirror with itself: what seems to differ is a
 * suspect. Collects the details and lists of parents that may be compared besides.
 */
export async function compareLists(comparison: Comparison, resource: Resource): Promise<void> {
  const shownWhole = new Set<RecordId>();
  const shown = await compareShown(comparison, resource, shownWhole);
  await compareHeld(comparison, resource, shown, shownWhole);
  addParents(comparison, resource);
  countsOf(comparison, resource.name).isDone = true;
}

/** null: it has no list of its own, or that was refused. */
async function compareShown(
  comparison: Comparison,
  resource: Resource,
  shownWhole: Set<RecordId>,
): Promise<ListShown | null> {
  const { view, reader, uncompared } = comparison;
  const { name, list } = resource;
  if (list.kind === "owned" || list.kind === "parents") return null;
  try {
    const shown = await readLists(reader, resource, (id, slice) => {
      if (isShownWhole(resource, slice)) shownWhole.add(id);
      if (differsFromListed(view, resource, view.held(name, id), slice)) suspect(comparison, name, id);
    });
    countsOf(comparison, name).service = shown.ids.size + shown.withoutId;
    if (shown.withoutId > 0)
      uncompared.push({ resource: name, id: null, message: `${shown.withoutId} records have no usable id` });
    return shown;
  } catch (error) {
    if (!(error instanceof ReadRefused)) throw error;
    uncompared.push({
      resource: name,
      id: null,
      message: `its list cannot be compared: ${messageOf(error)}`,
    });
    return null;
  }
}

async function compareHeld(
  comparison: Comparison,
  resource: Resource,
  shown: ListShown | null,
  shownWhole: ReadonlySet<RecordId>,
): Promise<void> {
  const { view, signal, uncompared } = comparison;
  const { name } = resource;
  const counts = countsOf(comparison, name);
  const absent: RecordId[] = [];
  for (const ids of view.ids(name)) {
    for (const id of ids) {
      const held = view.held(name, id);
      const isLive = isLiveRow(held);
      counts.mirror += Number(isLive);
      counts.provisional += Number(isLive && isOfPreview(held));
      if (!isSound(view, resource, held)) suspect(comparison, name, id);
      else if (isLive && shown && !shown.ids.has(id)) absent.push(id);
      else if (isLive) addLive(comparison, resource, id, held, shownWhole.has(id));
    }
    await yieldToLoop(signal, "stopped before all was compared");
  }
  const isBounded = shown?.isWhole === false && absent.length > mostAbsent;
  for (const id of isBounded ? absent.slice(0, mostAbsent) : absent) suspect(comparison, name, id);
  if (!isBounded) return;
  const message = `its list does not show ${absent.length} records, and was never whole: ${mostAbsent} were asked for`;
  uncompared.push({ resource: name, id: null, message });
}

/** A live record that seems right: what else can be compared of it? */
function addLive(
  comparison: Comparison,
  resource: Resource,
  id: RecordId,
  held: HeldRecord,
  isWhole: boolean,
): void {
  const { deepReads, examples } = comparison;
  const { name, list, detail } = resource;
  const some = examples.get(name) ?? [];
  if (some.length < mostExamples) examples.set(name, [...some, id]);
  if (detail === undefined || isWhole || list.kind === "parents" || isOfPreview(held)) return;
  const own: DeepRead = { resource: name, id, listOf: null, readAtMs: held.fence?.read_at ?? 0 };
  const owner = ownerOf(comparison, resource, held);
  if (owner === "gone") suspect(comparison, name, id);
  else if (owner !== "live") deepReads.push(own);
}

/** Does an owned record come with another one? `none`: no detail holds it. */
function ownerOf({ view }: Comparison, { name, list }: Resource, { cells }: HeldRecord) {
  if (list.kind !== "owned") return "none";
  const columns = dataColumns(view.table(name).plan);
  const cellOf = (field: string) =>
    cells?.[columns.findIndex((one) => one.name === snakeCase(field))] ?? null;
  const link = list.by.find(({ type, typeField }) => cellOf(typeField) === type);
  if (!link) return "none";
  const id = integerOf(Number(cellOf(link.idField)));
  return id !== null && view.records.isLive(link.resource, id) ? "live" : "gone";
}

/** The lists of all parents, and records that no parent's list can show. */
function addParents(comparison: Comparison, { name, list }: Resource): void {
  const { view, deepReads } = comparison;
  if (list.kind !== "parents") return;
  const parents = list.parents.map(({ resource }) => resource);
  for (const { resource, id, listedAtMs } of view.parents.stalest(name, parents, Number.MAX_SAFE_INTEGER))
    deepReads.push({ resource, id, listOf: name, readAtMs: listedAtMs ?? 0 });
  const links = list.parents.map((one) => ({ parent: one.resource, column: snakeCase(one.field) }));
  const { records } = view;
  for (const { column } of links)
    for (const id of records.liveWithoutParent(name, column, links, mostAbsent))
      suspect(comparison, name, id);
}
