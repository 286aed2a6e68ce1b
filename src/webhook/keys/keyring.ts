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
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isoOrNull, type Clock } from "../../base/clock.ts";
import { messageOf, MirrorError } from "../../base/errors.ts";
import { draftOf, isListOf, replaceFile } from "../../base/files/atomic-file.ts";
import type { Secret } from "../../base/secret.ts";
import { readSecretFile, shortestSecret, tooShort, type SecretPlace } from "../../config/secrets.ts";

export type Keyring = Pick<ConfiguredKeyring, "accepted" | "refresh">;
export type ConfiguredKeyring = ReturnType<typeof createKeyring>;

/** Accepts no delivery: for a process that only replays. */
export const emptyKeyring: Keyring = { accepted: () => [], refresh: () => false };

const refreshEveryMs = 1_000;

/**
 * Creates the keyring of a company.
 *
 * Guarantee: an accepted key stays accepted until its file holds another one or its time is over; a file that
 * cannot be read changes nothing.
 * Source of truth: the key files, and the config for keys that are in no file.
 * Worst outcome of a crash: none; everything is read again.
 */
export function createKeyring(parts: {
  readonly secrets: readonly Secret[];
  readonly places: readonly SecretPlace[];
  /** File of retired keys; see `retireKeys`. */
  readonly file: string;
  readonly clock: Clock;
  /** Gets every key as soon as it is known, so that no log line shows it. */
  readonly onSecrets?: (secrets: readonly string[]) => void;
}) {
  const { secrets, places, file, clock, onSecrets = () => undefined } = parts;
  /** Keys as the config was loaded: of one key file, or (null) of no file. */
  const configKeys = (path: string | null) =>
    secrets.flatMap((secret, index) =>
      secret.known && pathOf(places[index]) === path ? unending(secret.reveal()) : [],
    );
  /** Files that hold a key that is too short: it says nothing. */
  const short = new Set<string>();
  const usableKey = (path: string) => (text: string) => {
    const key = parseKeyFile(text);
    if (key === null || key.length >= shortestSecret) short.delete(path);
    else short.add(path);
    return key === null || short.has(path) ? null : unending(key);
  };
  const paths = [...new Set(places.map(pathOf))].filter((path) => path !== null);
  const watched = paths.flatMap((path) => [
    // A key that was received and is not in its file yet is in use already. The draft is read before the file, so
    // that a key moved between both reads is seen by one of them.
    watch(draftOf(path), draftKeys),
    watch(path, usableKey(path), configKeys(path)),
  ]);
  watched.push(watch(file, parseRetiredKeys));
  let readAtMs = Number.NEGATIVE_INFINITY;
  let current = acceptedAt(0, []);
  const gather = () => {
    const next = acceptedAt(clock.nowMs(), [...configKeys(null), ...watched.flatMap(({ keys }) => keys())]);
    const isSame = isDeepStrictEqual(next.secrets, current.secrets);
    current = isSame ? { ...next, secrets: current.secrets } : next;
    onSecrets(current.secrets);
  };
  const refresh = () => {
    if (clock.monotonicMs() - readAtMs < refreshEveryMs) return false;
    readAtMs = clock.monotonicMs();
    if (watched.filter((one) => one.refresh()).length === 0) return false;
    const before = new Set(current.secrets);
    gather();
    return current.secrets.some((secret) => !before.has(secret));
  };
  refresh();
  gather();
  return {
    /** Reads changed key files again, at most once a second. True: there are new keys. */
    refresh,
    /** The config's keys, and those replaced not long ago. The same array while nothing changes. */
    accepted: (): readonly string[] => {
      if (clock.nowMs() >= current.untilMs) gather();
      return current.secrets;
    },
    missing: () =>
      secrets.flatMap(({ problem }, index) => {
        const path = pathOf(places[index]);
        if (path !== null && short.has(path)) return [`the file ${path} ${tooShort}`];
        const isFound = watched.some((one) => one.path === path && one.keys().length > 0);
        return problem === null || isFound ? [] : [problem];
      }),
  };
}

function pathOf(place: SecretPlace | undefined): string | null {
  return place?.kind === "file" ? place.path : null;
}

function unending(secret: string): RetiredKey[] {
  return [{ secret, until: null }];
}

function draftKeys(text: string): RetiredKey[] | null {
  const key = parseDraft(text);
  return key === null ? null : unending(key);
}

/** The keys accepted at a time, and when the first of them ends. */
function acceptedAt(nowMs: number, keys: readonly RetiredKey[]) {
  const accepted = keys.filter((key) => isAccepted(key, nowMs));
  const ends = accepted.flatMap(({ until }) => (until === null ? [] : [Date.parse(until)]));
  return {
    secrets: [...new Set(accepted.map(({ secret }) => secret))],
    untilMs: Math.min(Number.POSITIVE_INFINITY, ...ends),
  };
}

/**
 * Follows a key file. `parse` gives null for a text that says nothing: the keys stay as they are. `lasting`: keys known
 * before the first read; they, and those read later, stay when the file is removed.
 */
function watch(
  path: string,
  parse: (text: string) => readonly RetiredKey[] | null,
  lasting?: readonly RetiredKey[],
) {
  let keys = lasting ?? [];
  let version: string | null = null;
  const refresh = () => {
    try {
      const found = keyFiles.version(path);
      if (found === version) return false;
      if (found !== null) keys = parse(keyFiles.read(path)) ?? keys;
      else if (!lasting) keys = [];
      version = found;
      return true;
    } catch {
      return false;
    }
  };
  return { path, refresh, keys: () => keys };
}

export const keyFiles = {
  /** Another text whenever the file may have changed; null: there is no file. */
  version(file: string) {
    const facts = statSync(file, { throwIfNoEntry: false });
    return facts ? `${facts.ino} ${facts.size} ${facts.mtimeMs} ${facts.ctimeMs}` : null;
  },
  read: readSecretFile,
};

/** The key in the text of a finished draft; null: writing it was cut off. */
function parseDraft(text: string): string | null {
  return /^([\x21-\x7e]+)\n$/.exec(text)?.[1] ?? null;
}

/** The key in the text of a key file, read as the config does; null: there is none. */
function parseKeyFile(text: string): string | null {
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
interface RetiredKey {
  readonly secret: string;
  readonly until: string | null;
}

/** The keys in the text of a file of retired keys. Throws for what is no JSON object. */
function parseRetiredKeys(text: string): RetiredKey[] {
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

function isAccepted({ until }: RetiredKey, nowMs: number): boolean {
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
    const { uid, gid } = statSync(file, { throwIfNoEntry: false }) ?? statSync(dirname(file));
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
