import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { MirrorError, messageOf, readFailure, valueOr } from "../base/errors.ts";
import { Secret } from "../base/secret.ts";
import type { TextValue } from "./address.ts";
import { pathText, valueAt, type Path } from "./yaml.ts";

/** Characters of a webhook secret; those of the service have more. */
export const shortestSecret = 16;

/** What is wrong with a shorter one: what looks like it would also be cut out of every line of the log. */
export const tooShort = `has fewer than ${shortestSecret} characters: it can be guessed`;

export type SecretPlace =
  | { readonly kind: "environment"; readonly name: string }
  /** Absolute. */
  | { readonly kind: "file"; readonly path: string }
  /** It stands in the config itself. */
  | { readonly kind: "config" }
  /** `id|secret`, each from a place of its own. */
  | { readonly kind: "pair"; readonly id: SecretPlace; readonly secret: SecretPlace };

export interface SecretSource {
  readonly env: NodeJS.ProcessEnv;
  /** Relative `${file:…}` paths start here: the config's folder. */
  readonly folder: string;
  readonly readFile: (path: string) => string;
}

export interface ResolvedSecret {
  /** Where it stands in the config: `companies.acme.token`. */
  readonly path: Path;
  readonly kind: SecretKind;
  readonly secret: Secret;
  readonly place: SecretPlace;
}

/** A text that may be a secret, and where it is from. */
export type PlacedText = Pick<ResolvedSecret, "secret" | "place">;

/** All secrets of a config file by the text of their path; those where no text stands are absent. */
export type ResolvedSecrets = ReadonlyMap<string, ResolvedSecret>;

/** Resolves every secret of the raw file, so that a missing variable is reported with every other mistake. */
export function resolveSecrets(raw: unknown, source: SecretSource): ResolvedSecrets {
  return new Map(
    writtenSecrets(raw).flatMap(({ path: at, kind, text }) =>
      text === "" ? [] : [[pathText(at), resolved(at, kind, text, source)] as const],
    ),
  );
}

/**
 * `token`: what a company proves itself with. `signing`: what signs deliveries, alerts or changes, and what opens the pages:
 * it must not be guessed; `webhook` is one that the program itself gets and stores. `address`: a secret only where the file
 * does not hold it. `postgres`: the address of Postgres, a secret where it holds a password.
 */
type SecretKind = "token" | "webhook" | "signing" | "address" | "postgres";

const secretKeys: Readonly<Record<string, SecretKind>> = {
  "companies.*.token": "token",
  "companies.*.credentials.client_id": "token",
  "companies.*.credentials.client_secret": "token",
  "companies.*.webhook.secrets.*": "webhook",
  "serve.page_token": "signing",
  "fleet.postgres": "postgres",
  "alerts.*.url": "address",
  "alerts.*.secret": "signing",
  "notify.*.url": "address",
  "notify.*.secret": "signing",
};

/** The key itself, or the section in which some keys are secrets. */
const secretPlaces = Object.keys(secretKeys).map((keys) => keys.split(".*")[0] ?? "");

/** May the text at a path, or beside it, be a secret? An address may hold a password. */
export function mayHoldSecret(at: Path): boolean {
  const text = pathText(at);
  return ["base_url", ...secretPlaces].some((place) => text.startsWith(place));
}

/** Must it not be guessed? */
export function isSigningKey(kind: SecretKind): boolean {
  return kind === "signing" || kind === "webhook";
}

function pathsOf(raw: unknown, keys: string): Path[] {
  const below = (above: Path, [key, ...more]: readonly string[]): Path[] => {
    if (key === undefined) return [above];
    const value = valueAt(raw, above);
    const all = Array.isArray(value) ? [...value.keys()] : Object.keys(value ?? {});
    return (key === "*" ? all : [key]).flatMap((one) => below([...above, one], more));
  };
  return below([], keys.split("."));
}

function resolved(where: Path, kind: SecretKind, text: string, source: SecretSource): ResolvedSecret {
  const place = placeOf(text, source);
  try {
    const found = readSecret(text, place, source);
    // One that stands in the config itself is a mistake in the config.
    if (isSigningKey(kind) && place.kind !== "config" && found.length < shortestSecret)
      throw new Error(`${placeText(place)} ${tooShort}`);
    return { path: where, kind, place, secret: new Secret(found) };
  } catch (error) {
    const remedy = place.kind === "file" && kind === "webhook" ? "; `webhooks create` writes it" : "";
    const missing = new MirrorError("config", `${pathText(where)}: ${messageOf(error)}${remedy}`);
    return { path: where, kind, place, secret: new Secret(missing) };
  }
}

/** The key of signatures by Standard Webhooks. */
export function readSigningKey(text: string): TextValue<Buffer> {
  const base64 = text.replace(/^whsec_/, "");
  const key = Buffer.from(base64, "base64");
  if (key.length >= 24 && key.length <= 64 && key.toString("base64") === base64) return { value: key };
  return { must: "be whsec_ and 24 to 64 bytes in base64, as `openssl rand -base64 32` makes them" };
}

export function writtenSecrets(raw: unknown) {
  return Object.entries(secretKeys).flatMap(([keys, kind]) =>
    pathsOf(raw, keys).flatMap((at) => {
      const text = valueAt(raw, at);
      return typeof text === "string" ? [{ path: at, kind, text }] : [];
    }),
  );
}

/** What a text refers to; null: it is the secret itself. */
export function referenceIn(text: string): { readonly kind: "env" | "file"; readonly name: string } | null {
  const [, kind, name = ""] = /^\$\{(env|file):([^}]*)\}$/.exec(text.trim()) ?? [];
  return kind === "env" || kind === "file" ? { kind, name: name.trim() } : null;
}

function placeOf(text: string, { folder }: SecretSource): SecretPlace {
  const reference = referenceIn(text);
  if (reference === null) return { kind: "config" };
  const { kind, name } = reference;
  return kind === "env" ? { kind: "environment", name } : { kind, path: path.resolve(folder, name) };
}

/**
 * Reads the file of a secret again. Null: it is in no file, or the file holds none at this moment.
 *
 * @param known the secret as it was read before: of a pair the half that is in no file stays
 */
export function rereadSecret(place: SecretPlace, known: Secret): Secret | null {
  if (place.kind === "pair") {
    const [id = "", secret = ""] = known.known ? known.reveal().split("|") : [];
    const halves = [rereadSecret(place.id, new Secret(id)), rereadSecret(place.secret, new Secret(secret))];
    const [newId = id, newSecret = secret] = halves.map((half) => half?.reveal());
    const isRead = halves.some((half) => half !== null) && newId !== "" && newSecret !== "";
    return isRead ? new Secret(`${newId}|${newSecret}`) : null;
  }
  if (place.kind !== "file") return null;
  const files = { env: {}, folder: "", readFile: readSecretFile };
  return valueOr(() => new Secret(readSecret("", place, files)), null);
}

/** What a text is at this moment; `onSecrets` gets it first where it is from a file. Throws why it is not known. */
export function currentText(
  { secret, place }: PlacedText,
  onSecrets: (secrets: readonly string[]) => void,
): string {
  const text = (rereadSecret(place, secret) ?? secret).reveal();
  if (place.kind === "file") onSecrets([text]);
  return text;
}

/** The text of a secret that a header can carry. Throws an Error that says why there is none. */
function readSecret(text: string, place: SecretPlace, { env, readFile }: SecretSource): string {
  const source = placeText(place);
  let found: string | undefined = text;
  if (place.kind === "environment") found = Object.hasOwn(env, place.name) ? env[place.name] : undefined;
  else if (place.kind === "file") found = readText(place.path, readFile);
  else if (text.includes("${")) throw new Error("write ${env:NAME} or ${file:/path} as the whole value");
  if (found === undefined) throw new Error(`${source} is not set`);
  if (found === "") throw new Error(`${source} is empty`);
  if (/^[\x21-\x7e]+$/.test(found)) return found;
  const odd = "a space, a line break or a character outside ASCII";
  throw new Error(`holds ${odd}, which no secret of the service has`);
}

function placeText(place: SecretPlace): string {
  if (place.kind === "environment") return `the environment variable ${place.name}`;
  return place.kind === "file" ? `the file ${place.path}` : "it";
}

/** Reads the file of a secret. Throws also for a pipe: the whole process would wait for somebody to write into it. */
export function readSecretFile(file: string): string {
  const facts = statSync(file);
  if (!facts.isFile() && !facts.isDirectory()) throw new Error("it is a pipe or a device");
  return readFileSync(file, "utf8");
}

function readText(file: string, readFile: SecretSource["readFile"]): string {
  try {
    return readFile(file).replace(/\r?\n$/, "");
  } catch (error) {
    throw new Error(`the file ${file} cannot be read (${readFailure(error)})`, { cause: error });
  }
}
