import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { openMirror } from "../../../src/state/mirror.ts";
import { memoryFolder } from "../../support/memory-folder.ts";
import type { SeededChoice } from "../../support/seeded-random.ts";
import { declaration } from "./simulated-declaration.ts";

/** The files of one company, in a folder in memory. A crash moves on to another folder, so that who died writes into the old one. */
export class SimulatedDisk {
  readonly root: string;
  private generation = 0;

  constructor(root: string, template: string | null) {
    this.root = root;
    mkdirSync(this.folder, { recursive: true });
    if (template !== null) copyFileSync(template, this.mirror);
  }

  get mirror(): string {
    return path.join(this.folder, "acme.db");
  }

  get budget(): string {
    return path.join(this.folder, "acme.budget.db");
  }

  private get folder(): string {
    return path.join(this.root, String(this.generation));
  }

  /** The files as they stand now are those that the next process finds. Returns what ends the old ones. */
  moveOn(): () => void {
    const old = this.folder;
    const files = [this.mirror, this.budget];
    this.generation += 1;
    mkdirSync(this.folder);
    for (const file of files) {
      for (const suffix of ["", "-wal"])
        if (existsSync(file + suffix))
          copyFileSync(file + suffix, path.join(this.folder, path.basename(file) + suffix));
    }
    return () => rmSync(old, { recursive: true, force: true });
  }

  files(): string[] {
    return readdirSync(this.folder).map((name) => path.join(this.folder, name));
  }

  /** How many frames of the mirror's log hold committed transactions. */
  committedFrames(): number {
    const index = `${this.mirror}-shm`;
    // The header of the log's index: "mxFrame" is its fifth word (SQLite, "WAL-mode file format").
    return existsSync(index) ? readFileSync(index).readUInt32LE(16) : 0;
  }

  /** Cuts the log of a database after so many frames; `torn` bytes that make no frame follow. */
  cutLog(file: string, frames: number, torn: Buffer): void {
    const log = `${file}-wal`;
    if (!existsSync(log)) return;
    const bytes = readFileSync(log);
    const end = Math.min(bytes.length, frames === 0 ? 0 : logHeaderBytes + frames * frameBytes);
    if (end < bytes.length) truncateSync(log, end);
    if (torn.length > 0 && end > 0) writeFileSync(log, torn, { flag: "a" });
  }

  /** Frames of a transaction that was being written: what of them reached the disk is anybody's guess. */
  tornFrames(choice: SeededChoice): Buffer {
    const log = `${this.mirror}-wal`;
    if (!existsSync(log)) return Buffer.alloc(0);
    const bytes = readFileSync(log).subarray(logHeaderBytes);
    const copy = Buffer.from(bytes.subarray(0, Math.min(bytes.length, 1 + choice.below(3 * frameBytes))));
    if (copy.length > 0 && choice.probability(0.5)) copy.fill(0, choice.below(copy.length));
    return copy;
  }

  /** The file of the budget is not synchronous: the power takes its last steps along. */
  loseBudget(choice: SeededChoice): void {
    const log = `${this.budget}-wal`;
    if (existsSync(log)) truncateSync(log, choice.below(readFileSync(log).length + 1));
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

const logHeaderBytes = 32;
const frameBytes = 24 + 4096;

let folders: string | null = null;
let made = 0;

function inFolders(name: string): string {
  folders ??= mkdtempSync(path.join(memoryFolder(), "fintoro-mirror-simulation-"));
  return path.join(folders, name);
}

export function newFolder(): string {
  return inFolders(String(++made));
}

/** An empty mirror, made once and copied. */
export async function emptyMirror(): Promise<string> {
  const file = inFolders("empty.db");
  if (existsSync(file)) return file;
  (await openMirror(file, declaration)).close();
  return file;
}

/** Removes what all simulations of this process left. */
export function removeSimulations(): void {
  if (folders !== null) rmSync(folders, { recursive: true, force: true });
  folders = null;
}
