import path from "node:path";
import { snakeCase } from "../base/names.ts";
import type { ConnectorDeclaration } from "../connector/connector-declaration.ts";
import { readDatabase, type Db } from "../store/database.ts";
import { quoted } from "../store/sql-text.ts";
import { incompleteTables } from "./report-file.ts";
import { columnMeaning } from "./report-layout.ts";
import { about, tablesOfReport, type SnapshotTable } from "../store/snapshot/snapshot-tables.ts";

/**
 * What Datasette shows beside the data, in the form of its metadata.json. Views come first, as links in the
 * description, because Datasette lists them after all tables; links are relative to its first page and to the
 * database's, which have the same folder.
 *
 * @param expected the resources that the report is meant to have
 */
export function datasetteMetadata(
  declaration: ConnectorDeclaration,
  report: string,
  { company, expected }: { readonly company: string; readonly expected: ReadonlySet<string> },
): object {
  const facts = readFacts(declaration, report, expected);
  const tables = tablesOfReport(declaration);
  const label = path.basename(report, ".db");
  const source = { source: declaration.title, source_url: new URL(declaration.baseUrl).origin };
  const title = `${facts.name ?? company}: ${declaration.title}`;
  const description_html = descriptionOf(declaration, label, facts);
  const questions = (declaration.questions ?? []).map((one) => [
    one.name,
    { title: one.title, sql: one.sql, description: one.doc },
  ]);
  return {
    title,
    description_html,
    ...source,
    extra_css_urls: [styles],
    databases: {
      [label]: {
        description_html,
        ...source,
        queries: Object.fromEntries(questions) as object,
        tables: Object.fromEntries(tables.map((table) => [table.name, tableMetadata(table, declaration)])),
      },
    },
  };
}

/** Without it the descriptions of fifty columns stand above the first row. */
const styles =
  "data:text/css,.column-descriptions{max-height:9em;overflow:auto;border-bottom:1px solid %23ccc}";

function readFacts({ identity }: ConnectorDeclaration, report: string, expected: ReadonlySet<string>) {
  const name = `SELECT ${quoted(snakeCase(identity.nameField))} FROM ${quoted(identity.resource)}`;
  return readDatabase(report, (db) => ({
    name: textOf(db, name),
    publishedAt: textOf(db, "SELECT value FROM _about WHERE subject = 'report' AND fact = 'published_at'"),
    incomplete: incompleteTables(db).filter((one) => expected.has(one)),
  }));
}

function textOf(db: Db, sql: string): string | null {
  const value = db.prepare(sql).pluck().get();
  return typeof value === "string" ? value : null;
}

function descriptionOf(
  declaration: ConnectorDeclaration,
  label: string,
  { publishedAt, incomplete }: ReturnType<typeof readFacts>,
): string {
  const link = ({ name, title }: { readonly name: string; readonly title: string }) =>
    `<li><a href="${urlName(label)}/${name}">${escaped(title)}</a></li>`;
  const list = (heading: string, items: readonly { readonly name: string; readonly title: string }[]) =>
    items.length === 0 ? "" : `<p><strong>${heading}</strong></p><ul>${items.map(link).join("")}</ul>`;
  const gaps =
    incomplete.length === 0
      ? ""
      : `<p><strong>Not complete yet</strong>, so sums may be too low: ${escaped(incomplete.join(", "))}. <a href="${urlName(label)}/${about.name}">${about.name}</a> says what is missing.</p>`;
  const made = `<p>Live records as of ${escaped(publishedAt?.replace(/^(.{10})T(.{5}).*/, "$1 $2 UTC") ?? "the last publish")}.</p>`;
  return `${made}${gaps}${list("Views", declaration.views ?? [])}${list("Questions", declaration.questions ?? [])}`;
}

/** As Datasette writes a name in its addresses: `acme~2Ereport`. */
function urlName(name: string): string {
  return name.replaceAll(/[^\w-]/g, (character) => `~${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

function tableMetadata(table: SnapshotTable, declaration: ConnectorDeclaration): object {
  const { title, doc, columns } = table;
  const described = columns.map((column) => [column.name, columnMeaning(column)] as const);
  // JSON leaves out what is undefined.
  return {
    title,
    description: doc ?? undefined,
    columns: Object.fromEntries(described.filter(([, words]) => words !== "")),
    facets: facetsOf(table),
    ...sortOf(table),
    label_column: labelOf(table),
    hidden: isHidden(table, declaration) || undefined,
  };
}

/** Few values each: statuses and kinds, yes or no, the currency. */
function facetsOf({ view, columns }: SnapshotTable): readonly string[] | undefined {
  const own = columns.filter(
    ({ name, values, references }) =>
      (values !== null && !name.startsWith("discount")) || references === "currencies",
  );
  const facets = view ? (view.facets ?? []) : own.map(({ name }) => name);
  return facets.length > 0 ? facets : undefined;
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

/** The service's own fixed lists are there to be joined, not to be looked at; nor are its settings and `_about`. */
function isHidden({ name, kind }: SnapshotTable, declaration: ConnectorDeclaration): boolean {
  if (kind === "about") return true;
  const resource = declaration.resources.find((each) => each.name === name);
  const isLookup = resource?.list.kind === "whole" && resource.detail === undefined;
  return kind === "table" && (isLookup || resource?.isTechnical === true);
}
