import type { BackupFile, BackupManifest } from "../content/backup-manifest.ts";

/** Where backups are read from. */
export interface BackupSource {
  /** As people write it. */
  readonly address: string;
  /** Companies that may have a backup. */
  companies(): Promise<string[]>;
  /** Names of a company's finished backups, sorted; `readBackupOrder` knows which one is newer. */
  list(company: string): Promise<string[]>;
  /** The text of the manifest. */
  readManifest(company: string, id: string): Promise<string>;
  read(company: string, id: string, file: BackupFile): AsyncIterable<Uint8Array>;
}

/** Where backups are stored: a folder, or a prefix in an object store. */
export interface BackupPlace extends BackupSource {
  /** An empty folder for the files of a new backup. What earlier ones left unfinished is removed. */
  prepare(company: string, id: string): Promise<string>;
  /**
   * Stores the files that were written to `folder`, the manifest with them, and checks what was stored. Before it
   * returns, no backup of this name can be listed or read; afterwards it is on the disk.
   */
  commit(company: string, id: string, folder: string, manifest: BackupManifest): Promise<void>;
  /** Removes what `prepare` made of a backup that was not committed. */
  discard(folder: string): Promise<void>;
  /** At no moment a part of it is left under its name. */
  remove(company: string, id: string): Promise<void>;
}
