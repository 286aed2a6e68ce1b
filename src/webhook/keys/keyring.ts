import { isDeepStrictEqual } from "node:util";
import { draftOf } from "../../base/files/atomic-file.ts";
import type { Clock } from "../../base/clock.ts";
import type { Secret } from "../../base/secret.ts";
import { shortestSecret, tooShort, type SecretPlace } from "../../config/secrets.ts";
import { isAccepted, keyFiles, parseDraft, parseKeyFile, parseRetiredKeys } from "./key-files.ts";
import type { RetiredKey } from "./key-files.ts";

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
