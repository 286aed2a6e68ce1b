import { z } from "zod";
import { seededRandom } from "../base/seeded-random.ts";
import type { Company, RecordOf } from "../domain/company-state.ts";
import { list, type Answer } from "../http/answer.ts";
import { collections, type TableName } from "../model/catalogue.ts";
import { parse, queryOneOf } from "../rules/request-shape.ts";
import { paged, type PageSize } from "./paging.ts";
import { tableOf, viewOf, type View } from "./record-views.ts";
import type { Call } from "./router.ts";

type Direction = "asc" | "desc";

/** How one list filters, sorts and shows its records. */
interface ListRules<K extends TableName, S extends z.ZodRawShape> {
  readonly table: K;
  /** What `sortBy` may name. */
  readonly sorts: Readonly<Record<string, (record: RecordOf<K>, company: Company) => string | number>>;
  /** The order without `sortBy` and `sortDirection`; by id where the name is not among `sorts`. */
  readonly usualOrder: readonly [sortBy: string, direction: Direction];
  /** A sort key that changes without a change of its record, so that no order is kept. */
  readonly changingSort?: string;
  /** Query parameters, besides those of sorting and paging. */
  readonly filters: S;
  /** Makes the test that records pass; not called for a request without filters. */
  readonly test: (wanted: z.output<z.ZodObject<S>>, call: Call) => (record: RecordOf<K>) => boolean;
  /** Absent for a list without pages. */
  readonly pageSize?: PageSize;
  /** @default the view of the detail */
  readonly view?: View<RecordOf<K>>;
  /** Does the fault `shuffled_ties` apply? @default false */
  readonly shufflesTies?: boolean;
}

/** Makes the handler of a list. */
export function recordList<K extends TableName, S extends z.ZodRawShape>(
  rules: ListRules<K, S>,
): (call: Call) => Answer {
  const { table: name, sorts, filters, pageSize, view = viewOf(name) } = rules;
  const sortBy = queryOneOf(Object.keys(sorts) as [string, ...string[]]);
  const query = z.object({ ...filters, sortBy, sortDirection: queryOneOf(["asc", "desc"]) });
  return (call) => {
    const { company, language } = call;
    const wanted = parse(query, call.query) as z.output<z.ZodObject<S>> & OrderQuery;
    const recordAt = (id: number) => tableOf(company, name).get(id) as RecordOf<K>;
    const isFiltered = Object.keys(filters).some((filter) => call.query[filter] !== undefined);
    const test = isFiltered ? rules.test(wanted, call) : null;
    const sorted = sortedIds(rules, wanted, call);
    const ids = test ? sorted.filter((id) => test(recordAt(id))) : sorted;
    const show = (id: number) => view(company, recordAt(id), language);
    if (!pageSize) return list(lazily(ids, show));
    return paged(call, `/${collections[name].path}`, ids, pageSize, show);
  };
}

interface OrderQuery {
  readonly sortBy?: string;
  readonly sortDirection?: Direction;
}

function sortedIds<K extends TableName, S extends z.ZodRawShape>(
  { table: name, sorts, usualOrder, changingSort, shufflesTies }: ListRules<K, S>,
  { sortBy = usualOrder[0], sortDirection = usualOrder[1] }: OrderQuery,
  { company, shuffle }: Call,
): readonly number[] {
  const table = tableOf(company, name);
  const sortKey = sorts[sortBy] ?? (({ id }) => id);
  const keyOf = (id: number) => sortKey(table.get(id) as RecordOf<K>, company);
  const ascending =
    sortBy === changingSort
      ? [...table.ids()].toSorted((a, b) => Number(keyOf(a)) - Number(keyOf(b)) || a - b)
      : table.sortedIds(sortBy, keyOf);
  const ids = sortDirection === "asc" ? ascending : ascending.toReversed();
  return shufflesTies && shuffle !== null ? shuffledTies(ids, keyOf, shuffle) : ids;
}

/** Is the value between two bounds, both included, each of which may be absent? */
export function isWithin<T extends string | number>(value: T, from?: T, to?: T): boolean {
  return (from === undefined || value >= from) && (to === undefined || value <= to);
}

/** One by one while the answer is written: a list without pages may be long. */
function* lazily<T>(ids: readonly number[], show: (id: number) => T): Generator<T> {
  for (const id of ids) yield show(id);
}

/** The same order by key, with equal keys in a random order, as a database may give them. */
function shuffledTies(
  ids: readonly number[],
  keyOf: (id: number) => string | number,
  turn: number,
): number[] {
  const rank = new Map<string | number, number>();
  for (const [place, id] of ids.entries()) if (!rank.has(keyOf(id))) rank.set(keyOf(id), place);
  const ranked = ids.map((id) => ({
    id,
    rank: rank.get(keyOf(id)) ?? 0,
    tie: seededRandom(turn, "tie", id).next(),
  }));
  return ranked.toSorted((a, b) => a.rank - b.rank || a.tie - b.tie).map(({ id }) => id);
}
