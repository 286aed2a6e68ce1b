import { closeSync, rmSync } from "node:fs";
import { messageOf } from "../../base/errors.ts";
import {
  draftOf,
  fillDurably,
  openDraft,
  putInPlace,
  secretFilesOnDisk,
  secretInDraft,
  secretInFile,
} from "./key-files.ts";

/**
 * Where a secret that is about to be asked for will be kept. The service shows it once, so everything that
 * can fail is tried before, and it is written beside its file first.
 *
 * Worst outcome of a crash: after the answer and before the bytes are on the disk the secret is lost, and
 * another one must be asked for. From there on it is in the draft: accepted by receivers, and put in its
 * place by the next command that gets a secret.
 */
export interface SecretDraft {
  /** Null: it is in its file, durably. Otherwise why not; never throws. */
  keep(secret: string): string | null;
  /** No secret came. */
  abandon(): void;
}

export function draftFor(file: string): SecretDraft {
  const draft = draftOf(file);
  let fd: number;
  try {
    fd = openDraft(file);
  } catch (error) {
    const why = messageOf(error);
    return { keep: () => why, abandon: () => undefined };
  }
  return {
    keep(secret) {
      try {
        fillDurably(fd, `${secret}\n`);
        closeSync(fd);
        putInPlace(draft, file);
        return null;
      } catch (error) {
        return messageOf(error);
      }
    },
    abandon() {
      closeSync(fd);
      rmSync(draft, { force: true });
    },
  };
}

/** The secret that a file holds now; null: none, or nothing that could be one. */
export function heldIn(file: string): string | null {
  return secretFilesOnDisk.stamp(file) === null ? null : secretInFile(secretFilesOnDisk.read(file));
}

/** What a crash left received and not in its place. */
export function leftInDraft(file: string): string | null {
  const draft = draftOf(file);
  return secretFilesOnDisk.stamp(draft) === null ? null : secretInDraft(secretFilesOnDisk.read(draft));
}

export function finishDraft(file: string): void {
  putInPlace(draftOf(file), file);
}
