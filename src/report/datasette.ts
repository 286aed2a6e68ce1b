import path from "node:path";
import type { Manifest } from "../connector/connector-manifest.ts";
import {
  about,
  deletedRecords,
  tablesOfManifest,
  type SnapshotTable,
} from "../store/snapshot/snapshot-tables.ts";

/** What Datasette shows beside the data, in the form of its metadata.json. */
export function datasetteMetadata(manifest: Manifest, report: string, company: string): object {
  const tables = [...tablesOfManifest(manifest), deletedRecords, about];
  const label = path.basename(report, ".db");
  const source = { source: manifest.title, source_url: new URL(manifest.baseUrl).origin };
  return {
    title: `${company}: ${manifest.title}`,
    ...source,
    databases: {
      [label]: {
        description: `Live records of ${company} as of the last publish; ${about.name} says when that was.`,
        ...source,
        tables: Object.fromEntries(tables.map((table) => [table.name, tableMetadata(table, manifest)])),
      },
    },
  };
}

function tableMetadata(table: SnapshotTable, manifest: Manifest): object {
  const { title, doc, columns } = table;
  const described = columns.map((column) => [column.name, describe(column)] as const);
  // JSON leaves out what is undefined.
  return {
    title,
    description: doc ?? undefined,
    columns: Object.fromEntries(described.filter(([, words]) => words !== "")),
    units: unitsOf(table),
    facets: facetsOf(table),
    ...sortOf(table),
    label_column: labelOf(table),
    hidden: isHidden(table, manifest) || undefined,
  };
}

function describe({ doc, references, values }: SnapshotTable["columns"][number]): string {
  const parts = [doc, references === null ? null : `Id in ${references}`];
  if (values !== null) parts.push(`Known values: ${values.join(", ")}`);
  return parts.filter((part) => part !== null).join(". ");
}

/** Columns that count days: Datasette writes the unit behind the number. */
function unitsOf({ columns }: SnapshotTable): object | undefined {
  const days = columns.filter(({ name }) => /(^|_)days(_|$)/.test(name)).map(({ name }) => [name, "day"]);
  return days.length > 0 ? Object.fromEntries(days) : undefined;
}

/** Few values each: statuses and kinds, yes or no, the currency. */
function facetsOf({ view, columns }: SnapshotTable): readonly string[] | undefined {
  const facets = view ? (view.facets ?? []) : columns.filter(isFacet).map(({ name }) => name);
  return facets.length > 0 ? facets : undefined;
}

function isFacet({ name, values, references }: SnapshotTable["columns"][number]): boolean {
  return (values !== null && !name.startsWith("discount")) || references === "currencies";
}

/** Newest first where rows have a day; Datasette wants one column, either way. */
function sortOf({ view, columns, kind }: SnapshotTable): object {
  if (view) {
    if (!view.sort) return {};
    return view.sort.descending ? { sort_desc: view.sort.column } : { sort: view.sort.column };
  }
  const day = columns.find(({ type }) => type === "DATE") ?? columns.find(({ type }) => type === "TIMESTAMP");
  return day && kind !== "child" ? { sort_desc: day.name } : {};
}

/** What stands for a row where another one points to it. */
function labelOf({ columns, kind }: SnapshotTable): string | undefined {
  const names = new Set(columns.map(({ name }) => name));
  return kind === "table" ? ["number", "symbol", "name"].find((name) => names.has(name)) : undefined;
}

/** The service's own fixed lists are there to be joined, not to be looked at. */
function isHidden({ name, kind }: SnapshotTable, manifest: Manifest): boolean {
  const resource = manifest.resources.find((each) => each.name === name);
  return kind === "table" && resource?.list.kind === "whole" && resource.detail === undefined;
}
