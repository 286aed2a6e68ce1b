import type { RecordRef } from "../../base/ids.ts";
import { inTransaction } from "../../store/database.ts";
import type { OwnRow } from "../../store/own-tables/mirror-tables.ts";
import { insertRow, removeRows, statement, Repository } from "../../store/own-tables/statement.ts";
import { archivePositionKey, Meta, type ArchivePosition } from "../meta.ts";

/**
 * A file of a record, as `document_files` shows it: `document` is the record's table, `path` relative to the company's
 * folder of files, with slashes.
 */
export type DocumentFile = Readonly<OwnRow<"document_files">>;

/** For which state of a record its files were asked for, and with what result. */
export interface FileRead {
  readonly ref: RecordRef;
  readonly recordSha: string;
  readonly readAtMs: number;
  /** Why the answer could not be used; null: its files are stored. */
  readonly problem: string | null;
}

/**
 * What the mirror knows of stored files: `document_files` and `_file_reads`. The archive's manifest is written first.
 *
 * Guarantee: rows, reads and the position in the manifest commit together.
 * Source of truth: the manifest; where the position is another one, the rows are made from it again.
 * Worst outcome of a crash: a read is not noted, and its files are asked for again.
 */
export class StoredFiles extends Repository {
  all(): DocumentFile[] {
    return allFiles.all(this.db);
  }

  of({ resource, id }: RecordRef): DocumentFile[] {
    return filesOf.all(this.db, { resource, id });
  }

  replace(read: FileRead, files: readonly DocumentFile[], position: ArchivePosition): void {
    const { resource, id } = read.ref;
    inTransaction(this.db, () => {
      removeRows(this.db, "document_files", { document: resource, document_id: id });
      for (const file of files) insertRow(this.db, "document_files", file, "or replace");
      this.note(read);
      new Meta(this.db).set(archivePositionKey, position);
    });
  }

  /** Makes all rows anew from the manifest. What was asked for without a file stays known. */
  rebuild(files: readonly DocumentFile[], reads: readonly FileRead[], position: ArchivePosition): void {
    inTransaction(this.db, () => {
      removeRows(this.db, "document_files", {});
      removeRows(this.db, "_file_reads", { problem: null });
      for (const file of files) insertRow(this.db, "document_files", file, "or replace");
      for (const read of reads) this.note(read);
      new Meta(this.db).set(archivePositionKey, position);
    });
  }

  fail(read: FileRead): void {
    inTransaction(this.db, () => this.note(read));
  }

  forget(refs: readonly RecordRef[]): void {
    inTransaction(this.db, () => {
      for (const { resource, id } of refs)
        removeRows(this.db, "_file_reads", { document: resource, document_id: id });
    });
  }

  private note({ ref: { resource, id }, recordSha, readAtMs, problem }: FileRead): void {
    const read = { document: resource, document_id: id, record_sha: recordSha, read_at: readAtMs, problem };
    insertRow(this.db, "_file_reads", read, "or replace");
  }
}

const allFiles = statement((db) => db.selectFrom("document_files").selectAll().orderBy("path"));
const filesOf = statement((db, p: RecordRef) => {
  const files = db.selectFrom("document_files").selectAll().orderBy("path");
  return files.where((f) => f.and({ document: p.resource, document_id: p.id }));
});
