import { readFileSync } from "node:fs";
import path from "node:path";
import { MirrorError, readNamed } from "../../base/errors.ts";
import { configJsonSchema } from "../../config/config-schema.ts";
import { readDocument } from "../../config/yaml.ts";
import type { ConnectorDeclaration } from "../../connector/connector-declaration.ts";
import { compareWithReference } from "../../connector/drift/drift.ts";
import {
  about,
  deletedRecords,
  documentFiles,
  tablesOfConnector,
  type SnapshotTable,
} from "../../store/snapshot/snapshot-tables.ts";
import { sqlTypes, type Column } from "../../store/tables/table-plan.ts";
import type { CommandRun } from "../program/command-table.ts";

export const connectorCheckCommand: CommandRun<"connector check"> = async (context, { options }) => {
  if (options.openapi === undefined)
    throw new MirrorError("usage", "--openapi FILE is needed: the reference to compare with");
  const file = path.resolve(context.cwd, options.openapi);
  const hint = "Name the service's OpenAPI document, in YAML or JSON.";
  const text = readNamed(() => readFileSync(file, "utf8"), "usage", `--openapi ${options.openapi}`, hint);
  const document = readDocument(text, options.openapi);
  const drifts = compareWithReference(context.connector.declaration, document);
  const breaking = drifts.filter((drift) => drift.severity === "breaking").length;
  const lines = drifts.map(({ severity, where, what }) => `${severity.padEnd(8)}  ${where}: ${what}`);
  await context.print({ breaking, drifts }, lines.length === 0 ? ["no difference"] : lines);
  return breaking > 0 ? "difference" : "complete";
};

export const schemaCommand: CommandRun<"schema"> = async ({ connector, output, globals }, { options }) => {
  const { declaration } = connector;
  if (!options.tables)
    await output.jsonText(JSON.stringify(configJsonSchema(declaration), null, globals.json ? 0 : 2));
  else if (globals.json) await output.json({ tables: tableDocs(declaration) });
  else await output.line(renderTableDocs(tableDocs(declaration)));
  return "complete";
};

/** One table of `schema --tables`, made from the same plan as the table itself. */
export interface TableDoc extends Pick<SnapshotTable, "title" | "doc"> {
  readonly table: string;
  /** `both`: in mirror and report under the same name. */
  readonly place: "mirror" | "report" | "both";
  readonly columns: readonly ColumnDoc[];
}

interface ColumnDoc extends Omit<Column, "scalar" | "paths"> {
  /** Type in the mirror; for a table of the report alone, its type there. */
  readonly type: string;
  /** Type that the report declares; null when the report has no such column. */
  readonly report_type: string | null;
}

export function tableDocs(declaration: ConnectorDeclaration): TableDoc[] {
  const tables = [...tablesOfConnector(declaration), deletedRecords, about, documentFiles];
  return [...tables.map(docOf), ...ownTables];
}

function docOf({ name, kind, title, doc, columns }: SnapshotTable): TableDoc {
  const isMirrored = kind === "table" || kind === "child" || kind === "files";
  const shown = columns.map(({ scalar, type: report_type, isRequired = false, ...column }): ColumnDoc => {
    const { name: named, references, doc: meaning, values } = column;
    // The mirror has times as text.
    const stored = isMirrored && report_type === "TIMESTAMP" ? "TEXT" : report_type;
    const type = scalar === null ? stored : sqlTypes[scalar];
    const nullable = column.nullable && !isRequired;
    return { name: named, type, report_type, nullable, references, doc: meaning, values };
  });
  const all = kind === "table" ? [...shown, ...ownColumns] : shown;
  return { table: name, place: isMirrored ? "both" : "report", title, doc, columns: all };
}

/** A column of the mirror alone: text that is never null, unless `more` says otherwise. */
function own(name: string, doc: string, more: Partial<ColumnDoc> = {}): ColumnDoc {
  const type = "TEXT";
  return { name, type, report_type: null, nullable: false, references: null, doc, values: null, ...more };
}

const integer = { type: "INTEGER" };
const optional = { nullable: true };

const ownColumns = [
  own("_deleted_at", "When the service was found to have it no longer; the row stays.", optional),
  own("_synced_at", "When this row was last written."),
  own(
    "_detail_at",
    "When the record that it shows was read; null while only its preview is known.",
    optional,
  ),
];

/** The mirror's own tables that are meant to be read. */
const ownTables: readonly TableDoc[] = [
  {
    table: "_raw",
    place: "mirror",
    title: "Records as received",
    doc: "The JSON of every record exactly as the service wrote it, number literals included.",
    columns: [
      own("resource", "The record's table."),
      own("id", "The record's id.", integer),
      own("json", "The record."),
      own("kind", "What it was read as; a preview shows a part of the record.", {
        values: ["preview", "list", "detail"],
      }),
    ],
  },
  {
    table: "_changes",
    place: "mirror",
    title: "Change log",
    doc: "Every change of the mirror in the order of its commits. Applied from the first, it gives the live rows; an `event` is about a record without a table, and changes none.",
    columns: [
      own("seq", "Grows with every change.", integer),
      own("resource", "The record's table."),
      own("record_id", "The record's id.", integer),
      own("op", "What happened.", { values: ["insert", "update", "delete", "event"] }),
      own("at", "When it was written."),
      own("cause", "Why the record was read.", {
        values: ["sweep", "hydrate", "webhook", "confirm", "repair", "schema"],
      }),
      own("request_id", "The service's id of the request that brought it.", optional),
      own("before", "The whole record before; null on insert.", optional),
      own("after", "The whole record after; null on delete.", optional),
    ],
  },
];

const preface = `The mirror's tables keep deleted records, with \`_deleted_at\`. The published report has live rows only, without
columns that start with \`_\`, with the types of the second column; what was deleted stands in \`deleted_records\`.

A reference to a record that is not there (a client deleted since, a table that is not mirrored) stays as the service
wrote it. The report declares a foreign key where it holds for every row of that report; columns left without a key are
named in \`_about\` (\`undeclared_keys\`), so that \`foreign_key_check\` never fails.

Amounts are declared DECIMAL and stored as SQLite's numbers: one that is whole is an integer, so divide by \`1.0 * x\`.`;

export function renderTableDocs(docs: readonly TableDoc[]): string {
  return [preface, ...docs.map(renderTable)].join("\n\n");
}

const places = { mirror: "In the mirror only", report: "In the report only", both: null } as const;

export function renderTable({ table, place, title, doc, columns }: TableDoc): string {
  const head = ["| column | type | in the report | null | meaning |", "|---|---|---|---|---|"];
  const text = sentences([title, places[place], doc]);
  return [`## ${table}`, "", text, "", ...head, ...columns.map(renderColumn)].join("\n");
}

function renderColumn(column: ColumnDoc): string {
  const { name, type, report_type: inReport, nullable, references, doc, values } = column;
  const reference = references === null ? null : `Id in ${references}.`;
  const known = values === null ? null : `Known values: ${values.join(", ")}.`;
  const text = sentences([doc, reference, known]).replaceAll("|", String.raw`\|`);
  return `| ${name} | ${type} | ${inReport ?? ""} | ${nullable ? "yes" : ""} | ${text} |`;
}

function sentences(parts: readonly (string | null)[]): string {
  const texts = parts.filter((part) => part !== null);
  return texts.map((text) => (/[.!?]$/.test(text) ? text : `${text}.`)).join(" ");
}
