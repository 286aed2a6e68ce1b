import type { RecordId } from "../../base/ids.ts";
import type { Cell } from "../tables/row-decoder.ts";

/** Why a record was read: the `cause` column of the change log. */
export type Cause = "sweep" | "hydrate" | "webhook" | "confirm" | "repair" | "schema";

/**
 * When an answer was sent and received, as numbers of the mirror's own sequence. An answer may show the state of
 * any moment after `sentSeq`, and of none before.
 */
export interface ReadStamp {
  readonly cause: Cause;
  readonly sentSeq: number;
  readonly receivedSeq: number;
  readonly receivedAtMs: number;
  readonly requestId: string | null;
  readonly run: number | null;
}

/** Lists and details may write the same record in different ways. */
export type Source = "list" | "detail";

/** How a list showed a record before its detail was read: the detail then proves that the preview is covered. */
export interface ListedAs {
  /** SHA-1 of the preview's bytes, hexadecimal. */
  readonly sha: string;
  /** Hash of the values that the preview shows. */
  readonly key: string;
}

/** Cells that the answer knows and the record does not name: the document of a payment. */
export type Overrides = Readonly<Record<string, Cell>>;

/** One record of an answer, on its way into the tables. */
export interface IncomingRecord {
  readonly stamp: ReadStamp;
  readonly id: RecordId;
  /** The record's JSON, the bytes that came. */
  readonly slice: Buffer;
  /** The answer has no id: it is taken as this record's only when it lacks nothing else. */
  readonly withoutId?: boolean;
  readonly source: Source;
  readonly listed?: ListedAs | undefined;
  readonly overrides?: Overrides;
}

/** What applying one record changed. `stale`: the answer overlapped with a later one; read again. */
export type ApplyResult = "inserted" | "updated" | "unchanged" | "stale" | "quarantined";

/** `absent`: there was nothing to remove. `stale`: the 404 overlapped with an applied read; read again. */
export type Removal = "removed" | "absent" | "stale";
