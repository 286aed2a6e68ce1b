import type { RecordId, RecordRef } from "../../base/ids.ts";
import type { FileKind } from "../../connector/resource.ts";
import { inTransaction } from "../../store/database.ts";
import { Repository } from "../../store/repository.ts";
import { archivePositionKey, Meta, type ArchivePosition } from "../meta.ts";

/** A file of a record, as `document_files` shows it. */
export interface DocumentFile {
  /** The record's table. */
  readonly document: string;
  readonly document_id: RecordId;
  readonly kind: FileKind;
  /** Relative to the company's folder of files, with slashes. */
  readonly path: string;
  readonly size_bytes: number;
  readonly sha256: string;
  /** ISO. */
  readonly fetched_at: string;
}

/** For which state of a record its files were asked for, and with what result. */
export interface FileRead {
  readonly ref: RecordRef;
  /** The hash of the record's JSON. */
  readonly recordSha: string;
  readonly readAtMs: number;
  /** Why the answer could not be used; null: its files are stored. */
  readonly problem: string | null;
}

const columns = "document, document_id, kind, path, size_bytes, sha256, fetched_at";

/**
 * What the mirror knows of stored files: `document_files` and `_file_reads`. The archive's manifest is written first.
 *
 * Guarantee: rows, reads and the position in the manifest commit together.
 * Source of truth: the manifest; where the position is another one, the rows are made from it again.
 * Worst outcome of a crash: a read is not noted, and its files are asked for again.
 */
export class StoredFiles extends Repository {
  all(): DocumentFile[] {
    return this.selectAll(`SELECT ${columns} FROM document_files ORDER BY path`);
  }

  of({ resource, id }: RecordRef): DocumentFile[] {
    const sql = `SELECT ${columns} FROM document_files WHERE document = ? AND document_id = ? ORDER BY path`;
    return this.selectAll(sql, resource, id);
  }

  /** Replaces the files of a record. */
  replace(read: FileRead, files: readonly DocumentFile[], position: ArchivePosition): void {
    const { resource, id } = read.ref;
    inTransaction(this.db, () => {
      this.execute("DELETE FROM document_files WHERE document = ? AND document_id = ?", resource, id);
      for (const file of files) this.insert(file);
      this.note(read);
      new Meta(this.db).set(archivePositionKey, position);
    });
  }

  /** Makes all rows anew from the manifest. What was asked for without a file stays known. */
  rebuild(files: readonly DocumentFile[], reads: readonly FileRead[], position: ArchivePosition): void {
    inTransaction(this.db, () => {
      this.execute("DELETE FROM document_files");
      this.execute("DELETE FROM _file_reads WHERE problem IS NULL");
      for (const file of files) this.insert(file);
      for (const read of reads) this.note(read);
      new Meta(this.db).set(archivePositionKey, position);
    });
  }

  /** Notes a read that brought no file. */
  fail(read: FileRead): void {
    inTransaction(this.db, () => this.note(read));
  }

  /** The files of these records are asked for again. */
  forget(refs: readonly RecordRef[]): void {
    const sql = "DELETE FROM _file_reads WHERE document = ? AND document_id = ?";
    inTransaction(this.db, () => refs.forEach(({ resource, id }) => this.execute(sql, resource, id)));
  }

  private insert(file: DocumentFile): void {
    const { document, document_id, kind, path, size_bytes, sha256, fetched_at } = file;
    const sql = `INSERT OR REPLACE INTO document_files (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?)`;
    this.execute(sql, document, document_id, kind, path, size_bytes, sha256, fetched_at);
  }

  private note({ ref: { resource, id }, recordSha, readAtMs, problem }: FileRead): void {
    const sql = `INSERT INTO _file_reads (document, document_id, record_sha, read_at, problem) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (document, document_id) DO UPDATE SET
        record_sha = excluded.record_sha, read_at = excluded.read_at, problem = excluded.problem`;
    this.execute(sql, resource, id, recordSha, readAtMs, problem);
  }
}
