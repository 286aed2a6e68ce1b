import type { Field } from "../connector/field.ts";
import type { Manifest } from "../connector/manifest.ts";
import type { Resource } from "../connector/resource.ts";
import { planTable, sqlType, type Column } from "../store/columns.ts";

/** One table of the mirror, as `schema --tables` tells it: made from the same plan as the table itself. */
export interface TableDoc {
  readonly table: string;
  readonly title: string;
  readonly doc: string | null;
  readonly columns: readonly ColumnDoc[];
}

interface ColumnDoc {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly references: string | null;
  readonly doc: string | null;
  /** Values known today; others are kept as they come. */
  readonly values: readonly string[] | null;
}

export function tableDocs(manifest: Manifest): TableDoc[] {
  return [...manifest.resources.flatMap(docsOfResource), ...ownTables];
}

function docsOfResource(resource: Resource): TableDoc[] {
  const plan = planTable(resource);
  const data = plan.columns.filter((column) => column.name !== "id").map(columnDoc);
  const main = {
    table: resource.name,
    title: resource.title,
    doc: resource.doc ?? null,
    columns: [recordKey, ...data, ...ownColumns],
  };
  const children = plan.children.map((child) => ({
    table: child.table,
    title: `${resource.title}: ${child.field}`,
    doc:
      fieldDoc(resource.fields[child.field]) ??
      `One row for each of a record's ${child.field}, replaced as a set.`,
    columns: [
      own(child.parentKey, "INTEGER", `The record it belongs to.`, resource.name),
      own("position", "INTEGER", "Its place in the record, from 0."),
      ...child.columns.map(columnDoc),
    ],
  }));
  return [main, ...children];
}

function fieldDoc(field: Field | undefined): string | undefined {
  return field?.doc;
}

function columnDoc(column: Column): ColumnDoc {
  return {
    name: column.name,
    type: sqlType(column),
    nullable: column.nullable,
    references: column.references ?? null,
    doc: column.doc ?? column.field?.doc ?? null,
    values: column.field?.values ?? null,
  };
}

function own(
  name: string,
  type: string,
  doc: string,
  references: string | null = null,
  nullable = false,
): ColumnDoc {
  return { name, type, nullable, references, doc, values: null };
}

const recordKey = own("id", "INTEGER", "The record's id in the service.");
const ownColumns = [
  own("_deleted_at", "TEXT", "When the service was found to have it no longer; the row stays.", null, true),
  own("_synced_at", "TEXT", "When this row was last written."),
];

/** The mirror's own tables that are meant to be read. */
const ownTables: readonly TableDoc[] = [
  {
    table: "_raw",
    title: "Records as received",
    doc: "The JSON of every record exactly as the service wrote it, number literals included.",
    columns: [
      own("resource", "TEXT", "The record's table."),
      own("id", "INTEGER", "The record's id."),
      own("json", "TEXT", "The record."),
    ],
  },
  {
    table: "_changes",
    title: "Change log",
    doc: "Every change of the mirror in the order of its commits. Applied from the first, it gives the live rows.",
    columns: [
      own("seq", "INTEGER", "Grows with every change."),
      own("resource", "TEXT", "The record's table."),
      own("record_id", "INTEGER", "The record's id."),
      { ...own("op", "TEXT", "What happened."), values: ["insert", "update", "delete"] },
      own("at", "TEXT", "When it was written."),
      {
        ...own("cause", "TEXT", "Why the record was read."),
        values: ["sweep", "hydrate", "webhook", "confirm", "repair", "schema"],
      },
      own("request_id", "TEXT", "The service's id of the request that brought it.", null, true),
      own("before", "TEXT", "The whole record before; null on insert.", null, true),
      own("after", "TEXT", "The whole record after; null on delete.", null, true),
    ],
  },
];

/** The same as Markdown. */
export function renderTableDocs(docs: readonly TableDoc[]): string {
  return docs.map(renderTable).join("\n\n");
}

function renderTable({ table, title, doc, columns }: TableDoc): string {
  const head = ["| column | type | null | meaning |", "|---|---|---|---|"];
  return [
    `## ${table}`,
    "",
    title + (doc === null ? "" : `. ${doc}`),
    "",
    ...head,
    ...columns.map(renderColumn),
  ].join("\n");
}

function renderColumn({ name, type, nullable, references, doc, values }: ColumnDoc): string {
  const meaning = [
    doc,
    references === null ? null : `Id in ${references}.`,
    values === null ? null : `Known values: ${values.join(", ")}.`,
  ];
  const text = meaning
    .filter((part) => part !== null)
    .map(sentence)
    .join(" ")
    .replaceAll("|", String.raw`\|`);
  return `| ${name} | ${type} | ${nullable ? "yes" : ""} | ${text} |`;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
