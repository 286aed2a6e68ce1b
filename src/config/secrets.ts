import path from "node:path";
import { MirrorError, messageOf } from "../base/errors.ts";
import { Secret } from "../base/secret.ts";
import { pathText, valueAt, type Problem } from "./config-problems.ts";
import type { Path } from "./yaml.ts";

/** Where a secret is from. */
export type SecretPlace =
  | { readonly kind: "environment"; readonly name: string }
  /** Absolute. */
  | { readonly kind: "file"; readonly path: string }
  /** It stands in the config itself. */
  | { readonly kind: "config" };

/** Where the texts behind `${env:NAME}` and `${file:/path}` are. */
export interface SecretSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Relative `${file:…}` paths start here: the config's folder. */
  readonly folder: string;
  readonly readFile: (path: string) => string;
}

/** A secret, known or not, and where it is from. */
export interface ResolvedSecret {
  readonly secret: Secret;
  readonly place: SecretPlace;
}

/** All secrets of a config file. */
export interface ResolvedSecrets {
  /** The secret at a place such as `companies.acme.token`; undefined where no text stands. */
  at(path: Path): ResolvedSecret | undefined;
  readonly problems: readonly Problem[];
  /** Secrets that stand in the file itself. */
  readonly literals: readonly Path[];
}

type Outcome = { readonly text: string } | { readonly problem: string };

/** Resolves every secret of the raw file, so that a missing variable is reported with every other mistake. */
export function resolveSecrets(raw: unknown, source: SecretSource): ResolvedSecrets {
  const found = new Map<string, ResolvedSecret>();
  const problems: Problem[] = [];
  const literals: Path[] = [];
  for (const { path: place, text } of secretPlaces(raw)) {
    const from = placeOf(text, source);
    const outcome = checked(resolve(text, from, source));
    let secret: Secret;
    if ("problem" in outcome) {
      const message = `${pathText(place)}: ${outcome.problem}${remedy(place, from)}`;
      problems.push({ path: place, at: "value", message });
      secret = Secret.absent(new MirrorError("config", message));
    } else {
      if (from.kind === "config") literals.push(place);
      secret = Secret.of(outcome.text);
    }
    found.set(pathText(place), { secret, place: from });
  }
  return { at: (place) => found.get(pathText(place)), problems, literals };
}

/** `companies.*.token` and `companies.*.webhook.secrets[*]`, wherever they are texts. */
function secretPlaces(raw: unknown): { path: Path; text: string }[] {
  const places = Object.keys(valueAt(raw, ["companies"]) ?? {}).flatMap((name): Path[] => {
    const secrets = ["companies", name, "webhook", "secrets"];
    const all: unknown = valueAt(raw, secrets);
    const ofWebhook = Array.isArray(all) ? all.map((_, index) => [...secrets, index]) : [];
    return [["companies", name, "token"], ...ofWebhook];
  });
  return places.flatMap((place) => {
    const text = valueAt(raw, place);
    return typeof text === "string" && text !== "" ? [{ path: place, text }] : [];
  });
}

/** Webhook secrets are the ones that the program itself gets and stores. */
function remedy(place: Path, { kind }: SecretPlace): string {
  return kind === "file" && place.includes("webhook") ? "; `webhooks create` writes it" : "";
}

function placeOf(text: string, { folder }: SecretSource): SecretPlace {
  const reference = /^\$\{(env|file):([^}]*)\}$/.exec(text.trim());
  const name = (reference?.[2] ?? "").trim();
  if (!reference) return { kind: "config" };
  if (reference[1] === "env") return { kind: "environment", name };
  return { kind: "file", path: path.resolve(folder, name) };
}

function resolve(text: string, place: SecretPlace, source: SecretSource): Outcome {
  if (place.kind === "environment") return fromEnvironment(place.name, source);
  if (place.kind === "file") return fromFile(place.path, source);
  if (!text.includes("${")) return { text };
  return { problem: "write ${env:NAME} or ${file:/path} as the whole value" };
}

function fromEnvironment(name: string, source: SecretSource): Outcome {
  const text = Object.hasOwn(source.env, name) ? source.env[name] : undefined;
  if (text === undefined) return { problem: `the environment variable ${name} is not set` };
  return text === "" ? { problem: `the environment variable ${name} is empty` } : { text };
}

function fromFile(file: string, source: SecretSource): Outcome {
  try {
    const text = source.readFile(file).replace(/\r?\n$/, "");
    return text === "" ? { problem: `the file ${file} is empty` } : { text };
  } catch (error) {
    return { problem: `the file ${file} cannot be read (${readFailure(error)})` };
  }
}

/** A header must be able to carry it. */
function checked(outcome: Outcome): Outcome {
  if ("problem" in outcome || /^[\x21-\x7e]+$/.test(outcome.text)) return outcome;
  const odd = "a space, a line break or a character outside ASCII";
  return { problem: `holds ${odd}, which no secret of the service has` };
}

/** Why a file cannot be read, in words. */
export function readFailure(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  if (code === "ENOENT") return "there is no such file";
  if (code === "EACCES" || code === "EPERM") return "no permission";
  if (code === "EISDIR") return "it is a folder";
  return messageOf(error);
}
