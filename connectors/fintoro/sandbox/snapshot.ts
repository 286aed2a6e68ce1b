import type { JsonObject } from "./base/values.ts";
import type { Company, Tables } from "./domain/company-state.ts";
import { lookupList, lookupNames } from "./lookups/lookup-lists.ts";
import type { Language } from "./lookups/languages.ts";
import { tableOf, tablesWithViews, viewOf } from "./routes/record-views.ts";

/** Table name -> id -> record. The company's own record has id 1. */
export type Snapshot = ReadonlyMap<string, ReadonlyMap<number, JsonObject>>;

/** Everything a company has, each record as its own route would show it now. */
export function snapshotOf(company: Company, language: Language): Snapshot {
  return new Map([
    ["company", new Map([[1, { name: company.settings.name }]])],
    ...lookupNames.map((name): [string, Map<number, JsonObject>] => [
      name.replaceAll("-", "_"),
      new Map(lookupList(name, language).map((one) => [one["id"] as number, one])),
    ]),
    ...tablesWithViews.map((name): [string, Map<number, JsonObject>] => [
      name,
      viewsOf(company, name, language),
    ]),
  ]);
}

function viewsOf(company: Company, name: keyof Tables, language: Language) {
  const view = viewOf(name);
  const records = [...tableOf(company, name).values()];
  return new Map(records.map((one) => [one.id, view(company, one, language)]));
}
