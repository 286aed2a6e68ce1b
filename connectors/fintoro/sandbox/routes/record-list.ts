import { z } from "zod";
import type { Company } from "../domain/company-state.ts";
import { list, type Answer } from "../http/answer.ts";
import { collections, type TableName } from "../model/catalogue.ts";
import { shuffledTies } from "../model/sort-orders.ts";
import { parse, queryOneOf } from "../rules/request-shape.ts";
import { paged, type PageSize } from "./paging.ts";
import { tableOf, viewOf, type RecordOf, type View } from "./record-views.ts";
import type { Call } from "./router.ts";

type SortKey<T> = (record: T, company: Company) => string | number;
type Direction = "asc" | "desc";

/** How one list filters, sorts and shows its records. */
export interface ListRules<K extends TableName, S extends z.ZodRawShape> {
  readonly table: K;
  /** What `sortBy` may name. */
  readonly sorts: Readonly<Record<string, SortKey<RecordOf<K>>>>;
  /** The order without `sortBy` and `sortDirection`; by id where the name is not among `sorts`. */
  readonly usualOrder: readonly [sortBy: string, direction: Direction];
  /** A sort key that changes without a change of its record, so that no order is kept. */
  readonly changingSort?: string;
  /** Query parameters, besides those of sorting and paging. */
  readonly filters: S;
  /** The test that records pass; null lets all pass. */
  readonly test: (wanted: z.output<z.ZodObject<S>>, call: Call) => ((record: RecordOf<K>) => boolean) | null;
  /** Absent for a list without pages. */
  readonly pageSize?: PageSize;
  /** Of a record in the list; without it as in the detail. */
  readonly view?: View<RecordOf<K>>;
  /** The fault `shuffled_ties` applies. */
  readonly shufflesTies?: boolean;
}

/** Makes the handler of a list. */
export function recordList<K extends TableName, S extends z.ZodRawShape>(
  rules: ListRules<K, S>,
): (call: Call) => Answer {
  const sortBy = queryOneOf(Object.keys(rules.sorts) as [string, ...string[]]);
  const schema = z.object({ ...rules.filters, sortBy, sortDirection: queryOneOf(["asc", "desc"]) });
  const recordView = rules.view ?? viewOf(rules.table);
  return (call) => {
    const { company, language } = call;
    const table = tableOf(company, rules.table);
    const wanted = parse(schema, call.query);
    const test = rules.test(wanted as z.output<z.ZodObject<S>>, call);
    const sorted = sortedIds(call, rules, wanted as { sortBy?: string; sortDirection?: Direction });
    const ids = test ? sorted.filter((id) => test(table.get(id) as RecordOf<K>)) : sorted;
    const view = (id: number) => recordView(company, table.get(id) as RecordOf<K>, language);
    if (!rules.pageSize) return list(lazily(ids, view));
    return paged(call, `/${collections[rules.table].path}`, ids, rules.pageSize, view);
  };
}

function sortedIds<K extends TableName, S extends z.ZodRawShape>(
  { company, shuffle }: Call,
  rules: ListRules<K, S>,
  wanted: { readonly sortBy?: string; readonly sortDirection?: Direction },
): readonly number[] {
  const [usual, usualDirection] = rules.usualOrder;
  const { sortBy = usual, sortDirection = usualDirection } = wanted;
  const table = tableOf(company, rules.table);
  const sortKey = rules.sorts[sortBy] ?? (({ id }) => id);
  const keyOf = (id: number) => sortKey(table.get(id) as RecordOf<K>, company);
  const ascending =
    sortBy === rules.changingSort
      ? [...table.ids()].toSorted((a, b) => Number(keyOf(a)) - Number(keyOf(b)) || a - b)
      : company.orders.by(table, `${rules.table}/${sortBy}`, keyOf);
  const ids = sortDirection === "asc" ? ascending : ascending.toReversed();
  return rules.shufflesTies && shuffle !== null ? shuffledTies(ids, keyOf, shuffle) : ids;
}

/** Is the value between two bounds, both included, each of which may be absent? */
export function isWithin<T extends string | number>(
  value: T,
  from: T | undefined,
  to: T | undefined,
): boolean {
  return (from === undefined || value >= from) && (to === undefined || value <= to);
}

/** One by one while the answer is written: a list without pages may be long. */
function* lazily<T>(ids: readonly number[], view: (id: number) => T): Generator<T> {
  for (const id of ids) yield view(id);
}
