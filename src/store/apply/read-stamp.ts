import type { Clock } from "../../base/clock.ts";
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

/** The stamp of a change that follows from no answer, and that any read may overwrite. */
export function stampWithoutRead(cause: Cause, clock: Clock): ReadStamp {
  return { cause, sentSeq: 0, receivedSeq: 0, receivedAtMs: clock.nowMs(), requestId: null, run: null };
}

/** What gives a whole record: lists and details may write the same one in different ways. */
export type FullSource = "list" | "detail";

/** Of what a row was made. A preview shows a part of a record: such a row is provisional. */
export type Source = FullSource | "preview";

/** How a list showed a record before its detail was read: the detail then proves that the preview is covered. */
export interface ListedAs {
  /** SHA-1 of the preview's bytes, hexadecimal. */
  readonly sha: string;
  /** Hash of the values that the preview shows. */
  readonly key: string;
  /** Columns of which the row, made of a detail, held another value than the preview. */
  readonly differing?: readonly string[];
}

/** Cells that the answer knows and the record does not name: the document of a payment. */
export type Overrides = Readonly<Record<string, Cell>>;

/** What a list shows of a record, on its way into the tables. */
export interface IncomingPreview {
  readonly stamp: ReadStamp;
  readonly id: RecordId;
  /** The JSON, the bytes that came. */
  readonly slice: Buffer;
}

/** One record of an answer, on its way into the tables. */
export interface IncomingRecord extends IncomingPreview {
  readonly source: FullSource;
  /** The answer has no id: it is taken as this record's only when it lacks nothing else. */
  readonly withoutId?: boolean;
  readonly listed?: ListedAs | undefined;
  readonly overrides?: Overrides | undefined;
}

/**
 * What applying one record changed. `hydrated`: a provisional row got its record, an `update` in the change log.
 * `stale`: the answer overlapped with a later one; read again.
 */
export type ApplyResult = "inserted" | "updated" | "hydrated" | "unchanged" | "stale" | "quarantined";

/** What applying a preview changed, and why the record's detail must be read; null: it need not. */
export interface PreviewResult {
  readonly result: ApplyResult;
  readonly read: { readonly reason: "new" | "changed"; readonly listed: ListedAs } | null;
}

/** `absent`: there was nothing to remove. `stale`: the 404 overlapped with an applied read; read again. */
export type Removal = "removed" | "absent" | "stale";
