import { hash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import type { LogPosition } from "../../base/ids.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import type { Language } from "../../connector/translation.ts";
import type { Snapshot } from "../../state/mirror-snapshot.ts";
import { redactionsOf, type RedactRule } from "../../store/snapshot/redaction.ts";
import type { SnapshotTable } from "../../store/snapshot/snapshot-tables.ts";
import type { Dialect } from "../csv/csv-writer.ts";
import type { Period } from "./period.ts";

/** File formats of an export. */
export const formats = ["csv", "parquet", "jsonl", "xlsx"] as const;
export type Format = (typeof formats)[number];

/** Periods by which an export can be divided into files. */
export const partitions = ["year", "month"] as const;
export type Partition = (typeof partitions)[number];

/** What to export, and in which form. */
export interface ExportRequest {
  readonly format: Format;
  /** The folder; each company has its own below it. */
  readonly out: string;
  readonly company: string;
  /** Names of tables and views; empty: all tables. */
  readonly tables: readonly string[];
  readonly dialect: Dialect;
  /** Of headings, and of values that are words of the service; `en`: as they are. */
  readonly language: Language;
  readonly partition: Partition | null;
  /** Export only what changed after this position of the change log. */
  readonly since: LogPosition | null;
  /** Export only rows of these days; null: all. Tables without a date are exported whole. */
  readonly period: Period | null;
  /** Parquet: child tables as columns of their parents. */
  readonly nested: boolean;
  /** Of a workbook. @default what Excel takes */
  readonly rowsPerSheet?: number;
  /** Leave the files alone if they are of this state of the mirror. */
  readonly ifChanged?: boolean;
}

export interface ExportParts {
  /** The mirror's file. */
  readonly mirror: string;
  readonly manifest: Manifest;
  readonly clock: Clock;
  /** The local date that ages are counted against. */
  readonly reportDate: string;
  /** Columns whose values the files do not have. @default [] */
  readonly redact?: readonly RedactRule[];
  /** Of this program. */
  readonly version: string;
  readonly onProgress?: (progress: ExportProgress) => void;
  /** Reads what else is to be of the same moment as the files. */
  readonly onSnapshot?: (snapshot: Snapshot) => void;
  readonly signal?: AbortSignal;
}

interface ExportProgress {
  readonly table: string;
  /** Of this table, written so far. */
  readonly rows: number;
  /** Finished tables, and all. */
  readonly done: number;
  readonly of: number;
}

/** What of a request shapes its files. The compiler asks for each key that is added. */
const shapes = {
  dialect: true,
  language: true,
  partition: true,
  period: true,
  nested: true,
  rowsPerSheet: true,
  // These decide which files there are, not what is in them.
  format: false,
  out: false,
  company: false,
  tables: false,
  since: false,
  ifChanged: false,
} satisfies Record<keyof ExportRequest, boolean>;

/** The hash of all that shapes the files of an export besides the rows: with another one they are written again. */
export function formOf(
  { version, redact = [] }: Pick<ExportParts, "version" | "redact">,
  request: ExportRequest,
  tables: readonly SnapshotTable[],
): string {
  const asked = Object.entries(request).filter(([key]) => shapes[key as keyof ExportRequest]);
  const columns = tables.map(({ name, columns: all }) => [name, all.map((one) => [one.name, one.type])]);
  const form = [
    version,
    redact,
    asked.toSorted(([a], [b]) => (a < b ? -1 : 1)),
    redactionsOf(tables),
    columns,
  ];
  return hash("sha256", JSON.stringify(form));
}
