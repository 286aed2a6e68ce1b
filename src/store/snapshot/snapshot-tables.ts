import type { ConnectorDeclaration } from "../../connector/connector-declaration.ts";
import type { ReportType, ReportView, ReportViewColumn } from "../../connector/report-view.ts";
import type { Resource } from "../../connector/resource.ts";
import { knownPlan } from "../tables/table-plan.ts";
import type { Column, ColumnScalar, RowPlan, TablePlan } from "../tables/table-plan.ts";

/** `drop`: the column stays, empty. `hash`: a keyed hash stands for each value, so that equal values still join. */
export type RedactMode = "drop" | "hash";

export interface SnapshotColumn
  extends Omit<Column, "scalar" | "seen" | "paths">, Pick<ReportViewColumn, "format" | "total"> {
  readonly type: ReportType;
  /** Type in the connector; `any`: a field it does not know. null: a column of a view or an own table. */
  readonly scalar: ColumnScalar | null;
  /** The connector declares that it is never null. @default false */
  readonly isRequired?: boolean;
  /** How its values are redacted; absent: they are shown. */
  readonly redacted?: RedactMode;
}

/** `history`: all versions of a table's rows. `files`: stored files of records. `deleted`: the list of tombstones. `about`: facts about the whole. */
type SnapshotKind = "table" | "child" | "view" | "files" | "deleted" | "about" | "history";

export interface SnapshotTable {
  readonly name: string;
  readonly kind: SnapshotKind;
  readonly title: string;
  readonly doc: string | null;
  readonly columns: readonly SnapshotColumn[];
  /** Empty for views. */
  readonly primaryKey: readonly string[];
  /** A child's parent; its key is the first column of the primary key. */
  readonly parent: string | null;
  readonly view: ReportView | null;
}

/** Most tables have no parent, view or key, and most columns of views and own tables no more than these facts. */
const plain = { primaryKey: [], parent: null, view: null } as const;
const plainColumn = { scalar: null, nullable: true, references: null, values: null } as const;

/** The types that snapshots give to the connector's types. Exports widen a decimal where a value needs more. */
const reportTypes: Readonly<Record<ColumnScalar, ReportType>> = {
  integer: "INTEGER",
  boolean: "BOOLEAN",
  decimal: "DECIMAL(18,6)",
  text: "TEXT",
  date: "DATE",
  timestamp: "TIMESTAMP",
  json: "TEXT",
  any: "TEXT",
};

/** The tables of a snapshot as the connector declares them. @param planOf @default without columns of unknown fields */
export function tablesOfConnector(
  { resources, views = [] }: ConnectorDeclaration,
  planOf = knownPlan,
): SnapshotTable[] {
  const tables = resources.flatMap((resource) => describeTables(resource, planOf(resource)));
  return [...tables, ...views.map(viewTable)];
}

/** The same with those that every report has, in the connector's order. */
export function tablesOfReport(declaration: ConnectorDeclaration, planOf = knownPlan): SnapshotTable[] {
  return [...tablesOfConnector(declaration, planOf), documentFiles, deletedRecords, about];
}

function describeTables(resource: Resource, plan: TablePlan): SnapshotTable[] {
  const { title, name } = resource;
  const id = keyColumn("id", "The record's id in the service.");
  const data = columnsOf(plan).filter((column) => column.name !== "id");
  const doc = resource.doc ?? null;
  const columns = [id, ...data];
  const main: SnapshotTable = { ...plain, name, kind: "table", title, doc, columns, primaryKey: ["id"] };
  const children = plan.children.map((child): SnapshotTable => {
    const parentKey = keyColumn(child.parentKey, "The record it belongs to.", name);
    const position = keyColumn("position", "Its place in the record, from 0.");
    return {
      ...plain,
      name: child.table,
      kind: "child",
      title: `${title}: ${child.field}`,
      doc:
        resource.fields[child.field]?.doc ??
        `One row for each of a record's ${child.field}, replaced as a set.`,
      columns: [parentKey, position, ...columnsOf(child)],
      primaryKey: [child.parentKey, "position"],
      parent: name,
    };
  });
  return [main, ...children];
}

function keyColumn(name: string, doc: string, references: string | null = null): SnapshotColumn {
  return { name, type: "INTEGER", scalar: "integer", nullable: false, references, doc, values: null };
}

function columnsOf(plan: RowPlan): SnapshotColumn[] {
  return plan.columns.map(({ name, scalar, seen, references, doc, values, nullable }) => {
    const type = reportTypes[seen ?? scalar];
    return { name, type, scalar, nullable: true, isRequired: !nullable, references, doc, values };
  });
}

export function viewTable(view: ReportView): SnapshotTable {
  const { name, title, question, doc } = view;
  const columns = view.columns.map((column) => ({ ...plainColumn, ...column }));
  return { ...plain, name, kind: "view", title, doc: `${question} ${doc}.`, columns, view };
}

function own(name: string, type: ReportType, doc: string, nullable = false): SnapshotColumn {
  return { ...plainColumn, name, type, nullable, doc };
}

/** What a history has before a table's own columns. */
export const historyColumns: readonly SnapshotColumn[] = [
  { ...own("_op", "TEXT", "What made this version."), values: ["insert", "update", "delete"] },
  own("valid_from", "TIMESTAMP", "When this version was seen first."),
  own("valid_to", "TIMESTAMP", "When the next one was; null while it holds.", true),
];

/** Where a mirror's copy keeps the versions of a table's rows. */
export function historyTable(table: string): string {
  return `_history_${table}`;
}

/** After the name of a table: its exported history. */
export const historySuffix = ".history";

/** All versions of a table's rows; redacted as the table is. */
export function historyOf(table: SnapshotTable): SnapshotTable {
  const { name, title, columns, primaryKey } = table;
  return {
    ...plain,
    name: `${name}${historySuffix}`,
    kind: "history",
    title: `${title}: history`,
    doc: "Each version of each row with its period; a deletion keeps the last values.",
    columns: [...historyColumns, ...columns.map((column) => ({ ...column, references: null }))],
    primaryKey: [primaryKey[0] ?? "id", "valid_from", ...primaryKey.slice(1)],
    parent: name,
  };
}

export const documentFiles: SnapshotTable = {
  ...plain,
  name: "document_files",
  kind: "files",
  title: "Files of documents",
  doc: "PDFs and attachments as they are stored now, those of deleted records included.",
  columns: [
    own("document", "TEXT", "The record's table."),
    own("document_id", "INTEGER", "The record's id."),
    { ...own("kind", "TEXT", "What it is."), values: ["pdf", "attachment"] },
    own(
      "path",
      "TEXT",
      "Within the company's folder of files, COMPANY.files in data_dir; where the record is redacted, its content's place.",
    ),
    own("size_bytes", "INTEGER", "Its size."),
    own(
      "sha256",
      "TEXT",
      "Hash of its bytes; its content is also stored under this name, as older ones are.",
    ),
    own("fetched_at", "TIMESTAMP", "When these bytes came."),
  ],
  primaryKey: ["document", "document_id", "path"],
};

export const deletedRecords: SnapshotTable = {
  ...plain,
  name: "deleted_records",
  kind: "deleted",
  title: "Deleted records",
  doc: "What the service once had and has no longer; such records stand in no other table.",
  columns: [
    own("resource", "TEXT", "The record's table."),
    { ...own("id", "INTEGER", "The record's id."), format: "id" },
    own("number", "TEXT", "As last known, like the next four; null where its table has none.", true),
    own("name", "TEXT", "Its name, or that of its client or supplier.", true),
    own("total", "DECIMAL(18,6)", "In its currency: a document's `total`, a payment's amount.", true),
    own("currency", "TEXT", "ISO 4217 code.", true),
    own("date", "DATE", "Of issue or payment.", true),
    own("deleted_at", "TIMESTAMP", "When it was found to be gone."),
    own(
      "cause",
      "TEXT",
      "Why the answer that proved it was read, as in `_changes`: `confirm`: to prove a deletion; null once `retention.changes` has removed that change.",
      true,
    ),
  ],
  primaryKey: ["resource", "id"],
};

export const about: SnapshotTable = {
  ...plain,
  name: "_about",
  kind: "about",
  title: "About this report",
  doc: "When and from what it was made, and how fresh each table is: one row for each fact.",
  columns: [
    own("subject", "TEXT", "`report`, `run` (the last that ended), or a table."),
    own(
      "fact",
      "TEXT",
      "`report_date`, `log`, `seq`, `outcome`, `fresh_at`, `rows`, `without_detail`, `complete`, `redacted`, …",
    ),
    own("value", "TEXT", "As text; null where nobody knows.", true),
  ],
  primaryKey: ["subject", "fact"],
};
