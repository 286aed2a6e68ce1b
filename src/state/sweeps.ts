import { sourcesOf, type ChangesPlan, type Resource } from "../connector/resource.ts";
import type { Meta } from "./meta.ts";

/** One list: of a resource, or of one value of its list parameter. */
export interface ListRef {
  readonly resource: string;
  readonly variant: string;
}

export interface BegunList extends ListRef {
  /** Epoch milliseconds. */
  readonly begunMs: number;
}

/** The list of what changed in a resource, beside its whole list. */
export const changesVariant = "changes";

/** The name that a run's row knows a list by. */
export function sweepKey(resource: string, variant: string): string {
  return variant === "" ? resource : `${resource}:${variant}`;
}

/**
 * When a resource was last read whole, or what changed in it since, ISO; null: never. From the runs' own rows, which are written as each list
 * is closed: a run that was killed counts for what it had read. What has no list of its own is as fresh as the
 * stalest of what brings it.
 *
 * @param swept when each list was last read whole: `Runs.sweptTimes`
 * @param mirrored what the config leaves out brings nothing, and is not brought
 */
export function sweptAt(
  resource: Resource,
  swept: ReadonlyMap<string, string>,
  mirrored: readonly Resource[],
): string | null {
  const sources = sourcesOf(resource);
  if (sources.length > 0) {
    if (!mirrored.includes(resource)) return null;
    const read = mirrored.filter(({ name }) => sources.includes(name));
    return earliest(read.map((source) => sweptAt(source, swept, mirrored)));
  }
  const variants = variantsOf(resource);
  const keys = (variants.length > 0 ? variants : [""]).map((variant) => sweepKey(resource.name, variant));
  const wholeAt = earliest(keys.map((key) => swept.get(key) ?? null));
  if (wholeAt === null || changesOf(resource) === null) return wholeAt;
  const changesAt = swept.get(sweepKey(resource.name, changesVariant)) ?? wholeAt;
  return changesAt > wholeAt ? changesAt : wholeAt;
}

/** Where `_meta` notes that details showed records of a resource that was not selected: 1, and `queued` once they are read again. */
export const leftOutKey = (resource: string) => `left_out:${resource}`;

/** How a list of the resource shows what changed; null: only its whole list does. */
export function changesOf({ list }: Resource): ChangesPlan | null {
  return (list.kind === "walked" && list.changes) || null;
}

/** Where the next list of changes begins; see `ChangesPlan`. */
const newestKey = (resource: string) => `newest:${resource}`;

/** The newest time stamp that the lists of a resource showed, ISO; null: they were never read whole. */
export function newestListed(meta: Meta, resource: string): string | null {
  return meta.get(newestKey(resource)) as string | null;
}

/** Notes it when a list is complete. Writes nothing where it is known. */
export function noteNewest(meta: Meta, resource: string, newest: string): void {
  const known = newestListed(meta, resource);
  if (known === null || newest > known) meta.set(newestKey(resource), newest);
}

/** How many records fill a page of a list without a total, as its last whole reading showed. */
export const fullPageKey = (resource: string) => `full_page:${resource}`;

export function variantsOf({ list }: Resource): readonly string[] {
  if (list.kind === "paged" || list.kind === "walked") return [""];
  return list.kind === "whole" ? (list.variants?.values ?? [""]) : [];
}

/** Notes how many records a list has, as it says itself. Writes nothing where that is known. */
export function noteExpected(meta: Meta, key: string, total: number): void {
  meta.note(`expected:${key}`, total);
}

/** How many records the lists of a resource named when they were last read; null: not known. */
export function expectedRecords(meta: Meta, resource: Resource): number | null {
  const totals = variantsOf(resource).map((variant) =>
    meta.get(`expected:${sweepKey(resource.name, variant)}`),
  );
  const known = totals.filter((total) => typeof total === "number");
  return totals.length === 0 || known.length < totals.length ? null : known.reduce((a, b) => a + b, 0);
}

/** Of ISO times; null when one of them is missing. */
export function earliest(times: readonly (string | null)[]): string | null {
  if (times.includes(null)) return null;
  return times.reduce((a, b) => (a === null || (b !== null && b < a) ? b : a), null);
}
