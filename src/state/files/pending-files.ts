import { canonicalId, type RecordId, type RecordRef } from "../../base/ids.ts";
import { isoTime } from "../../base/clock.ts";
import type { Config } from "../../config/config.ts";
import type { FileKind, Resource } from "../../connector/resource.ts";
import { quoted } from "../../store/sql-text.ts";
import { Repository } from "../../store/own-tables/statement.ts";
import { knowsResource } from "../../store/tables/stored-records.ts";
import { fenceTable } from "../../store/tables/table-layout.ts";
import { retries } from "../../retry/retry-limits.ts";

export type PendingRecord = ReturnType<typeof toPending>;

export interface FilesQuestion {
  /** What could not be used is asked for again if that was before, epoch ms. */
  readonly retryBeforeMs: number;
  readonly month?: string | undefined;
  readonly records?: readonly RecordRef[] | undefined;
}

export interface FileCounts {
  readonly stored: number;
  readonly stored_bytes: number;
  /** Records whose files were never asked for, or changed since. */
  readonly pending: number;
  /** Records whose files could not be used when they were last asked for. */
  readonly problems: number;
}

export type FiledResource = Resource & Required<Pick<Resource, "files">>;

export function filedResources(resources: readonly Resource[], kinds: readonly FileKind[]): FiledResource[] {
  const isFiled = ({ files }: Resource) => files !== undefined && kinds.includes(files.kind);
  return resources.filter((resource): resource is FiledResource => isFiled(resource));
}

/** Everything that is due without a person who asks for it. */
export function usualQuestion(nowMs: number): FilesQuestion {
  return { retryBeforeMs: nowMs - retries.files.afterMs };
}

export function fileKinds({ files }: Pick<Config, "files">): FileKind[] {
  return [...(files.pdf ? (["pdf"] as const) : []), ...(files.attachments ? (["attachment"] as const) : [])];
}

/** Which files are still to be fetched: a query over the mirror, so that nothing has to be queued. Never writes. */
export class PendingFiles extends Repository {
  /** Some records of a resource: those never asked for first, the newest first. */
  next(resource: FiledResource, question: FilesQuestion, most: number): PendingRecord[] {
    if (!knowsResource(this.db, resource.name)) return [];
    const { date, name } = resource.files;
    const texts = [date, ...name].map((column) => `CAST(r.${quoted(column)} AS TEXT)`);
    const sql = `SELECT f.id, lower(hex(f.sha)), ${texts.join(", ")} ${pending(resource, question)}
      ORDER BY s.problem IS NOT NULL, f.id DESC LIMIT ?`;
    const rows = this.statement(sql, "cells");
    return (rows.all(...valuesOf(resource, question), most) as unknown[][]).map(toPending);
  }

  count(resources: readonly FiledResource[], question: FilesQuestion): number {
    const counts = resources
      .filter(({ name }) => knowsResource(this.db, name))
      .map((resource) => {
        const sql = `SELECT count(*) ${pending(resource, question)}`;
        return this.selectColumn<number>(sql, ...valuesOf(resource, question))[0] ?? 0;
      });
    return counts.reduce((sum, count) => sum + count, 0);
  }

  isAny(resources: readonly FiledResource[], question: FilesQuestion): boolean {
    const isPending = (resource: FiledResource) =>
      this.exists(`SELECT 1 ${pending(resource, question)} LIMIT 1`, ...valuesOf(resource, question));
    return resources.some((resource) => knowsResource(this.db, resource.name) && isPending(resource));
  }

  counts(resources: readonly FiledResource[]): FileCounts {
    const sql = `SELECT count(*) AS stored, coalesce(sum(size_bytes), 0) AS stored_bytes,
      (SELECT count(*) FROM _file_reads WHERE problem IS NOT NULL) AS problems FROM document_files`;
    const { problems, ...stored } = this.statement(sql).get() as Omit<FileCounts, "pending">;
    return { ...stored, pending: this.count(resources, { retryBeforeMs: 0 }), problems };
  }

  /** Records without their files, and why, the latest first. */
  problems(most: number) {
    const sql = `SELECT document, document_id, problem, read_at FROM _file_reads
      WHERE problem IS NOT NULL ORDER BY read_at DESC, document, document_id LIMIT ?`;
    type Row = { document: string; document_id: RecordId; problem: string; read_at: number };
    return this.selectAll<Row>(sql, most).map(({ read_at, ...row }) => ({ ...row, at: isoTime(read_at) }));
  }
}

/** SQL from `FROM` on: `f` is a record's fence, `r` its row, `s` the last read of its files. */
function pending({ name, singular, files: { where, date } }: FiledResource, question: FilesQuestion): string {
  const conditions = [
    "f.gone = 0 AND f.source <> 'preview' AND f.sha IS NOT NULL",
    `(s.document_id IS NULL OR s.record_sha <> lower(hex(f.sha))
      OR (s.problem IS NOT NULL AND s.read_at < ?))`,
  ];
  if (question.month !== undefined) conditions.push(`substr(r.${quoted(date)}, 1, 7) = ?`);
  if (question.records !== undefined) conditions.push("f.id IN (SELECT value FROM json_each(?))");
  if (where !== undefined)
    conditions.push(`EXISTS (SELECT 1 FROM ${quoted(where)} c WHERE c.${quoted(`${singular}_id`)} = f.id)`);
  return `FROM ${quoted(fenceTable(name))} f JOIN ${quoted(name)} r ON r.id = f.id
    LEFT JOIN _file_reads s ON s.document = '${name}' AND s.document_id = f.id
    WHERE ${conditions.join(" AND ")}`;
}

function valuesOf({ name }: FiledResource, { retryBeforeMs, month, records }: FilesQuestion): unknown[] {
  const ids = records?.flatMap(({ resource, id }) => (resource === name ? [id] : []));
  return [retryBeforeMs, month, ids && `[${ids.join()}]`].filter((value) => value !== undefined);
}

function toPending([id, recordSha, date, ...name]: unknown[]) {
  return {
    id: canonicalId(id as bigint),
    recordSha: String(recordSha),
    /** The value of the resource's date column, as text. */
    date: date as string | null,
    name: name as (string | null)[],
  };
}
