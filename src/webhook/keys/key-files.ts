import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { draftOf, isListOf, replaceFile } from "../../base/files/atomic-file.ts";
import { isoOrNull } from "../../base/clock.ts";
import { messageOf, MirrorError } from "../../base/errors.ts";
import { readSecretFile } from "../../config/secrets.ts";

export const keyFiles = {
  /** Another text whenever the file may have changed; null: there is no file. */
  version(file: string) {
    const facts = statSync(file, { throwIfNoEntry: false });
    return facts ? `${facts.ino} ${facts.size} ${facts.mtimeMs} ${facts.ctimeMs}` : null;
  },
  read: readSecretFile,
};

/** The key in the text of a finished draft; null: writing it was cut off. */
export function parseDraft(text: string): string | null {
  return /^([\x21-\x7e]+)\n$/.exec(text)?.[1] ?? null;
}

/** The key in the text of a key file, read as the config does; null: there is none. */
export function parseKeyFile(text: string): string | null {
  return /^([\x21-\x7e]+)(?:\r?\n)?$/.exec(text)?.[1] ?? null;
}

/** The key that a file holds now; null: none. */
export function readKey(file: string): string | null {
  return parseKeyFile(textOf(file));
}

/** A key that was received and is not in `file` yet, because of a crash; null: none. */
export function readPendingKey(file: string): string | null {
  return parseDraft(textOf(draftOf(file)));
}

function textOf(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

export function storePendingKey(file: string): void {
  replaceFile(draftOf(file), file);
}

/**
 * Opens the draft where a key that is about to be requested will be stored, for its owner only. The service shows the
 * key once, so everything that can fail is tried before, and it is written to a draft beside its file first. Never
 * throws: `store` gives the reason why it could not, null when it did; `discard` is called where no key was received.
 *
 * Guarantee: `store` gives null only when the key is in its file and on the disk.
 * Source of truth: the file, then its draft.
 * Worst outcome of a crash: before the bytes are on the disk the key is lost, and another must be requested. After
 * that it is in the draft: receivers accept it, and the next command that gets a key moves it to its file.
 */
export function openPendingKey(file: string): { store(key: string): string | null; discard(): void } {
  let fd: number;
  try {
    fd = openDraft(file);
  } catch (error) {
    const reason = messageOf(error);
    return { store: () => reason, discard: () => undefined };
  }
  return {
    store(key) {
      try {
        fillDraft(fd, file, `${key}\n`);
        return null;
      } catch (error) {
        return messageOf(error);
      }
    },
    discard() {
      closeSync(fd);
      rmSync(draftOf(file), { force: true });
    },
  };
}

/** A key that was replaced and is still accepted. `until`: ISO; null: until no other subscription delivers here. */
export interface RetiredKey {
  readonly secret: string;
  readonly until: string | null;
}

/** The keys in the text of a file of retired keys. Throws for what is no JSON object. */
export function parseRetiredKeys(text: string): RetiredKey[] {
  const { retired } = JSON.parse(text) as { readonly retired?: readonly RetiredKey[] };
  if (!Array.isArray(retired)) return [];
  const keys = (retired as RetiredKey[]).filter((key) => isListOf([key], ["secret"]) && key.secret !== "");
  return keys.map(({ secret, until }) => ({ secret, until: until ?? null }));
}

/** None where the file is not there. Throws MirrorError `database` where it is damaged: writing it would lose its keys. */
export function retiredKeysIn(file: string): RetiredKey[] {
  try {
    return existsSync(file) ? parseRetiredKeys(textOf(file)) : [];
  } catch (cause) {
    throw new MirrorError("database", `the file of replaced secrets is damaged: ${file}`, {
      hint: "Remove it: deliveries signed with a secret that was replaced are refused then.",
      cause,
    });
  }
}

export function isAccepted({ until }: RetiredKey, nowMs: number): boolean {
  return until === null || nowMs < Date.parse(until);
}

/**
 * Writes keys that are about to be replaced to the file of retired keys. A key that is there gets the new end; keys
 * whose time is over are removed. Mode 0600.
 */
export function retireKeys(
  file: string,
  secrets: readonly string[],
  end: { readonly nowMs: number; readonly untilMs: number | null },
): void {
  const until = isoOrNull(end.untilMs);
  const others = retiredKeysIn(file).filter(({ secret }) => !secrets.includes(secret));
  const all = [...others, ...secrets.map((secret) => ({ secret, until }))];
  const retired = all.filter((one) => isAccepted(one, end.nowMs));
  fillDraft(openDraft(file), file, `${JSON.stringify({ retired }, null, 2)}\n`);
}

/** Readable by its owner only, also where a draft was left over; that of a file that root writes is the daemon user's. */
function openDraft(file: string): number {
  const fd = openSync(draftOf(file), "w", 0o600);
  fchmodSync(fd, 0o600);
  if (process.getuid?.() === 0) {
    const { uid, gid } = statSync(file, { throwIfNoEntry: false }) ?? statSync(path.dirname(file));
    fchownSync(fd, uid, gid);
  }
  return fd;
}

function fillDraft(fd: number, file: string, text: string): void {
  try {
    writeFileSync(fd, text);
  } finally {
    closeSync(fd);
  }
  replaceFile(draftOf(file), file);
}
