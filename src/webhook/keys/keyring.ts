import { draftOf } from "../../base/atomic-file.ts";
import type { Clock } from "../../base/clock.ts";
import type { Secret } from "../../base/secret.ts";
import { shortestSecret, tooShort, type SecretPlace } from "../../config/secrets.ts";
import {
  isAccepted,
  keyFilesOnDisk,
  parseDraft,
  parseKeyFile,
  parseRetiredKeys,
  type KeyFiles,
  type RetiredKey,
} from "./key-files.ts";

/** The webhook keys that a delivery may be signed with now. */
export interface Keyring {
  /** The config's keys, and those replaced not long ago. The same array while nothing changes. */
  readonly accepted: () => readonly string[];
  /** Reads changed key files again, at most once a second. True: there are new keys. */
  readonly refresh: () => boolean;
}

/** The keyring of a config's company. */
export interface ConfiguredKeyring extends Keyring {
  /** Why keys that the config names are not known. */
  readonly missing: () => readonly string[];
}

/** Where the keys of a company are read from. */
export interface KeyringParts {
  /** The config's keys. */
  readonly secrets: readonly Secret[];
  /** Where each of `secrets` is from. */
  readonly places: readonly SecretPlace[];
  /** File of retired keys; see `retireKeys`. */
  readonly file: string;
  readonly clock: Clock;
  /** @default the files of the disk */
  readonly files?: KeyFiles;
  /** Gets every key as soon as it is known, so that no log line shows it. */
  readonly onSecrets?: (secrets: readonly string[]) => void;
}

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
export function createKeyring(parts: KeyringParts): ConfiguredKeyring {
  const { clock, files = keyFilesOnDisk, onSecrets = () => undefined } = parts;
  const { watched, short } = watchedFiles(parts, files);
  const fixed = configKeys(parts, null);
  let readAtMs = Number.NEGATIVE_INFINITY;
  let current = acceptedAt(0, []);
  const gather = () => {
    current = acceptedAt(clock.nowMs(), [...fixed, ...watched.flatMap((file) => file.keys())]);
    onSecrets(current.secrets);
  };
  const refresh = () => {
    if (clock.monotonicMs() - readAtMs < refreshEveryMs) return false;
    readAtMs = clock.monotonicMs();
    const changed = watched.filter((file) => file.refresh());
    if (changed.length === 0) return false;
    const before = new Set(current.secrets);
    gather();
    return current.secrets.some((secret) => !before.has(secret));
  };
  refresh();
  gather();
  return {
    refresh,
    accepted: () => {
      if (clock.nowMs() >= current.untilMs) gather();
      return current.secrets;
    },
    missing: () =>
      parts.secrets.flatMap(({ problem }, index) => {
        const place = parts.places[index];
        const file = pathOf(place);
        if (file !== null && short.has(file)) return [`the file ${file} ${tooShort}`];
        const found = watched.some(({ path, keys }) => keys().length > 0 && path === file);
        return problem === null || found ? [] : [problem];
      }),
  };
}

/** Null: it is in no file. */
function pathOf(place: SecretPlace | undefined): string | null {
  return place?.kind === "file" ? place.path : null;
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

/** Null: no key. */
function keysOf(secret: string | null): RetiredKey[] | null {
  return secret === null ? null : [{ secret, until: null }];
}

/** Keys as the config was loaded: of one key file, or (null) of no file. */
function configKeys({ secrets, places }: KeyringParts, file: string | null): RetiredKey[] {
  return secrets.flatMap((secret, index) => {
    return secret.known && pathOf(places[index]) === file ? [{ secret: secret.reveal(), until: null }] : [];
  });
}

/** Gives null for a text that says nothing: the keys stay as they are. */
type ParseKeys = (text: string) => readonly RetiredKey[] | null;

function watchedFiles(parts: KeyringParts, files: KeyFiles) {
  /** Files that hold a key that is too short: it says nothing. */
  const short = new Set<string>();
  const usableKey = (path: string) => (text: string) => {
    const key = parseKeyFile(text);
    const isShort = key !== null && key.length < shortestSecret;
    if (isShort) short.add(path);
    else short.delete(path);
    return keysOf(isShort ? null : key);
  };
  const paths = new Set(parts.places.flatMap((place) => (place.kind === "file" ? [place.path] : [])));
  const configured = [...paths].flatMap((path) => [
    // A key that was received and is not in its file yet is in use already. The draft is read before the file, so
    // that a key moved between both reads is seen by one of them.
    watch(files, draftOf(path), (text) => keysOf(parseDraft(text))),
    watch(files, path, usableKey(path), configKeys(parts, path)),
  ]);
  return { watched: [...configured, watch(files, parts.file, parseRetiredKeys)], short };
}

/** `lasting`: keys known before the first read. They, and those read later, stay when the file is removed. */
function watch(files: KeyFiles, path: string, parse: ParseKeys, lasting?: readonly RetiredKey[]) {
  let keys = lasting ?? [];
  let version: string | null = null;
  /** Reads the file if it changed. True: it did. */
  const refresh = () => {
    try {
      const found = files.version(path);
      if (found === version) return false;
      if (found !== null) keys = parse(files.read(path)) ?? keys;
      else if (!lasting) keys = [];
      version = found;
      return true;
    } catch {
      return false;
    }
  };
  return { path, refresh, keys: () => keys };
}
