import type { Clock } from "../../base/clock.ts";
import type { LogPosition } from "../../base/ids.ts";
import type { ExportConfig } from "../../config/config.ts";
import type { ConnectorDeclaration } from "../../connector/connector-declaration.ts";
import type { Snapshot } from "../../state/mirror-snapshot.ts";
import type { MirrorMoment } from "../../state/as-of/moment.ts";
import type { RedactRule } from "../../store/snapshot/redaction.ts";
import type { Period } from "./period.ts";

/** How files are made of rows. */
interface ExportForm extends Pick<ExportConfig, "format" | "dialect" | "language" | "nested"> {
  readonly partition: ExportConfig["partitionBy"];
  /** Each version of each row with its period; the mirror is an overlay with its history. @default false */
  readonly history?: boolean;
  /** Of a workbook. @default what Excel takes */
  readonly rowsPerSheet?: number;
}

export interface ExportRequest extends ExportForm {
  /** The folder; each company has its own below it. */
  readonly out: string;
  readonly company: string;
  /** Names of tables and views; empty: all tables. */
  readonly tables: readonly string[];
  /** Export only what changed after this position of the change log. */
  readonly since: LogPosition | null;
  /** Export only rows of these days; null: all. Tables without a date are exported whole. */
  readonly period: Period | null;
  /** Leave the files alone if they are of this state of the mirror. */
  readonly ifChanged?: boolean;
}

export interface ExportParts {
  readonly mirror: string;
  readonly declaration: ConnectorDeclaration;
  readonly clock: Clock;
  /** The local date that ages are counted against. */
  readonly reportDate: string;
  /** Columns whose values the files do not have. @default [] */
  readonly redact?: readonly RedactRule[];
  /** The mirror is an overlay as of this moment. @default it is of now */
  readonly moment?: MirrorMoment | null;
  readonly version: string;
  readonly signal?: AbortSignal;
}

export interface ExportWatch {
  /** With the rows of this table written so far, the finished tables, and all. */
  readonly onProgress?: (table: string, rows: number, done: number, of: number) => void;
  /** Reads what else is to be of the same moment as the files. */
  readonly onSnapshot?: (snapshot: Snapshot) => void;
}
