import type { Clock } from "../../base/clock.ts";
import type { Secret } from "../../base/secret.ts";
import type { SecretPlace } from "../../config/secrets.ts";
import {
  draftOf,
  isAccepted,
  readRetired,
  secretFilesOnDisk,
  secretInDraft,
  secretInFile,
  type RetiredSecret,
  type SecretFiles,
} from "./key-files.ts";

/** The secrets that a delivery may be signed with, now. */
export interface Keyring {
  /** The config's, and those that were replaced not long ago. The same array while nothing changes. */
  readonly accepted: () => readonly string[];
  /** Looks at the files again, at most once a second. True: there are other secrets now. */
  readonly refresh: () => boolean;
}

export interface KeyringParts {
  /** The config's, and where each is from. */
  readonly secrets: readonly Secret[];
  readonly places: readonly SecretPlace[];
  /** Of retired secrets; see `retire`. */
  readonly file: string;
  readonly clock: Clock;
  readonly files?: SecretFiles;
  /** Told every secret the moment it is known, so that no line shows it. */
  readonly onSecrets?: (secrets: readonly string[]) => void;
}

const lookEveryMs = 1000;

/**
 * Guarantee: a secret that was accepted stays so until its file holds another one or its time is over; a
 * file that cannot be read changes nothing. Source of truth: the files, and the config for what is in none.
 */
export function createKeyring(parts: KeyringParts): Keyring {
  const { clock, files = secretFilesOnDisk, onSecrets = () => undefined } = parts;
  const watched = watchedFiles(parts, files);
  const fixed = texts(parts, "fixed");
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  let current: Accepted = { secrets: [], untilMs: 0 };
  const gather = () => {
    const found = [...fixed.map(forEver), ...watched.flatMap((file) => file.secrets())];
    current = acceptedNow(found, clock.nowMs());
    onSecrets(current.secrets);
  };
  const refresh = () => {
    if (clock.monotonicMs() - lookedAtMs < lookEveryMs) return false;
    lookedAtMs = clock.monotonicMs();
    const changed = watched.filter((file) => file.look());
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
  };
}

interface Accepted {
  readonly secrets: readonly string[];
  /** When the first of them ends. */
  readonly untilMs: number;
}

function acceptedNow(found: readonly RetiredSecret[], nowMs: number): Accepted {
  const accepted = found.filter((one) => isAccepted(one, nowMs));
  const ends = accepted.flatMap(({ until }) => (until === null ? [] : [Date.parse(until)]));
  return {
    secrets: [...new Set(accepted.map(({ secret }) => secret))],
    untilMs: Math.min(Number.POSITIVE_INFINITY, ...ends),
  };
}

function forEver(secret: string): RetiredSecret {
  return { secret, until: null };
}

/** Of the config, as it was loaded: those in a file, or the others. */
function texts({ secrets, places }: KeyringParts, which: "fixed" | { readonly path: string }): string[] {
  return secrets.flatMap((secret, index) => {
    const place = places[index];
    const file = place?.kind === "file" ? place.path : null;
    const wanted = which === "fixed" ? file === null : file === which.path;
    return secret.known && wanted ? [secret.reveal()] : [];
  });
}

interface WatchedFile {
  /** Reads it if it changed. True: it did. */
  look(): boolean;
  secrets(): readonly RetiredSecret[];
}

function watchedFiles(parts: KeyringParts, files: SecretFiles): WatchedFile[] {
  const paths = new Set(parts.places.flatMap((place) => (place.kind === "file" ? [place.path] : [])));
  const ofConfig = [...paths].flatMap((path) => {
    const loaded = texts(parts, { path }).map(forEver);
    const held = (read: (text: string) => string | null) => (text: string) => {
      const secret = read(text);
      return secret === null ? null : [forEver(secret)];
    };
    // One that was received and is not in its place yet is accepted, too: it is in use already. Looked at
    // first, so that moving it meanwhile hides it from neither look.
    const draft = watch(draftOf(path), files, [], held(secretInDraft), []);
    return [draft, watch(path, files, loaded, held(secretInFile), null)];
  });
  return [...ofConfig, watch(parts.file, files, [], readRetired, [])];
}

/** `read` gives null for a text that says nothing; `gone` is what a missing file means, null: no change. */
function watch(
  path: string,
  files: SecretFiles,
  initial: readonly RetiredSecret[],
  read: (text: string) => readonly RetiredSecret[] | null,
  gone: readonly RetiredSecret[] | null,
): WatchedFile {
  let held = initial;
  let stamp: string | null = null;
  const look = () => {
    try {
      const now = files.stamp(path);
      if (now === stamp) return false;
      held = (now === null ? gone : read(files.read(path))) ?? held;
      stamp = now;
      return true;
    } catch {
      return false;
    }
  };
  return { look, secrets: () => held };
}
