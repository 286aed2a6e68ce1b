import {
  closeSync,
  fchownSync,
  fchmodSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from "node:fs";
import path from "node:path";
import { isoTime } from "../../base/clock.ts";

/** As much of the file system as the ring looks at. */
export interface SecretFiles {
  /** Another one whenever the file may have changed; null: there is none. */
  stamp(file: string): string | null;
  read(file: string): string;
}

export const secretFilesOnDisk: SecretFiles = {
  stamp(file) {
    const facts = statSync(file, { throwIfNoEntry: false });
    return facts ? `${facts.ino} ${facts.size} ${facts.mtimeMs} ${facts.ctimeMs}` : null;
  },
  read: (file) => readFileSync(file, "utf8"),
};

/** Where a new secret is written first, beside the file it is for. */
export function draftOf(file: string): string {
  return `${file}.new`;
}

/** Of a draft that was written whole; one that was cut off says nothing. */
export function secretInDraft(text: string): string | null {
  return /^([\x21-\x7e]+)\n$/.exec(text)?.[1] ?? null;
}

/** The text of a secret's file, as the config reads it; null: it holds none. */
export function secretInFile(text: string): string | null {
  return /^([\x21-\x7e]+)(?:\r?\n)?$/.exec(text)?.[1] ?? null;
}

/** A secret that was replaced and is still accepted; `until` null: until it is taken out by hand. */
export interface RetiredSecret {
  readonly secret: string;
  readonly until: string | null;
}

export function readRetired(text: string): RetiredSecret[] {
  const { retired } = JSON.parse(text) as { retired?: unknown };
  if (!Array.isArray(retired)) return [];
  return (retired as readonly Partial<RetiredSecret>[]).flatMap(({ secret, until = null }) =>
    typeof secret === "string" && secret !== "" ? [{ secret, until }] : [],
  );
}

export function isAccepted({ until }: RetiredSecret, nowMs: number): boolean {
  return until === null || nowMs < Date.parse(until);
}

/**
 * Remembers secrets that are being replaced, before they are. One that is there already gets the new end;
 * what has ended is forgotten.
 */
export function retire(
  file: string,
  secrets: readonly string[],
  end: { readonly nowMs: number; readonly untilMs: number | null },
): void {
  const until = end.untilMs === null ? null : isoTime(end.untilMs);
  const others = present(file).filter(({ secret }) => !secrets.includes(secret));
  const all = [...others, ...secrets.map((secret) => ({ secret, until }))];
  const retired = all.filter((one) => isAccepted(one, end.nowMs));
  writePrivately(file, `${JSON.stringify({ retired }, null, 2)}\n`);
}

function present(file: string): RetiredSecret[] {
  return statSync(file, { throwIfNoEntry: false }) ? readRetired(readFileSync(file, "utf8")) : [];
}

/** Mode 0600; after a crash the file holds the old text or the new one, never a part. */
function writePrivately(file: string, text: string): void {
  const draft = draftOf(file);
  const fd = openDraft(file);
  try {
    fillDurably(fd, text);
  } finally {
    closeSync(fd);
  }
  putInPlace(draft, file);
}

/** For nobody else to read, also where a draft was there before. */
export function openDraft(file: string): number {
  const fd = openSync(draftOf(file), "w", 0o600);
  fchmodSync(fd, 0o600);
  giveToOwner(fd, file);
  return fd;
}

/** An administrator at work leaves files that the daemon's own user can read: they stay whose they were. */
function giveToOwner(fd: number, file: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(file, { throwIfNoEntry: false }) ?? statSync(path.dirname(file));
  fchownSync(fd, uid, gid);
}

export function fillDurably(fd: number, text: string): void {
  writeSync(fd, text);
  fsyncSync(fd);
}

export function putInPlace(draft: string, file: string): void {
  renameSync(draft, file);
  const folder = openSync(path.dirname(file), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
