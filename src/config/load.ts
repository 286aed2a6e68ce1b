import path from "node:path";
import { MirrorError } from "../base/errors.ts";
import { buildConfig } from "./build.ts";
import { companyNameProblems } from "./company-names.ts";
import type { Config, KnownConnector } from "./config.ts";
import { pathText, problemsOf, type Problem } from "./config-problems.ts";
import { reasonOf, resolveSecrets, type ResolvedSecrets } from "./secrets.ts";
import { knownKeys } from "./shape-keys.ts";
import { configShape, type ShapedConfig } from "./config-schema.ts";
import { readYaml, type Position, type YamlFile } from "./yaml.ts";

export interface LoadOptions {
  /** `--config`; otherwise `$FINTORO_MIRROR_CONFIG`, otherwise `./config.yaml`. */
  readonly path?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly readFile: (path: string) => string;
  readonly connectors: readonly [KnownConnector, ...KnownConnector[]];
  /**
   * `required`: a missing variable or file is an error. `when_used`: it is one only for who reveals the
   * secret, so that reading the mirror works where the token is not at hand. `token`: the token is required,
   * and what is missing of a webhook is a warning: only who receives deliveries needs that.
   */
  readonly secrets?: "required" | "token" | "when_used";
}

export interface LoadedConfig {
  readonly config: Config;
  /** Whole sentences with file, line and column. */
  readonly warnings: readonly string[];
  readonly path: string;
}

/** Finds, reads and checks the config; one MirrorError of kind `config` tells every mistake in it. */
export function loadConfig(options: LoadOptions): LoadedConfig {
  const file = path.resolve(
    options.cwd,
    options.path ?? (options.env["FINTORO_MIRROR_CONFIG"] || "config.yaml"),
  );
  const shownPath = shown(file, options.cwd);
  const yaml = readYaml(readText(file, shownPath, options));
  const place = ({ line, column }: Position) => `${shownPath}:${line}:${column}`;
  refuse(
    yaml.problems.map(({ position, message }) => ({ position, message })),
    place,
  );
  if (yaml.value === undefined)
    throw new MirrorError("config", `${shownPath}:1:1: the file is empty`, { hint: howToWrite });
  const checked = check(yaml.value, options, path.dirname(file));
  refuse(located(checked.problems, yaml), place);
  if (!checked.config) throw new Error("broken promise: a config without problems is complete");
  const warnings = located(checked.warnings, yaml).map(
    ({ position, message }) => `${place(position)}: ${message}`,
  );
  return { config: checked.config, warnings, path: file };
}

const howToWrite = "`fintoro-mirror schema` describes every key; config.example.yaml is a start";

function shown(file: string, cwd: string): string {
  const relative = path.relative(cwd, file);
  return relative.startsWith("..") || path.isAbsolute(relative) ? file : relative;
}

function readText(file: string, shownPath: string, options: LoadOptions): string {
  try {
    return options.readFile(file);
  } catch (error) {
    throw new MirrorError("config", `the config ${shownPath} cannot be read: ${reasonOf(error)}`, {
      hint: "create one (config.example.yaml is a start), or name yours with --config FILE or $FINTORO_MIRROR_CONFIG",
      cause: error,
    });
  }
}

interface Checked {
  readonly config: Config | null;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

function check(value: unknown, options: LoadOptions, folder: string): Checked {
  const raw = withoutEmptySections(value);
  const known = connectorOf(raw, options.connectors);
  const shape = configShape(known);
  const secrets = resolveSecrets(raw, { env: options.env, readFile: options.readFile, folder });
  const result = shape.safeParse(raw);
  const [secretProblems, secretWarnings] = weighed(secrets.problems, options.secrets ?? "required");
  const shapeProblems = result.success ? [] : problemsOf(result.error.issues, raw, knownKeys(shape));
  const problems = [...shapeProblems, ...companyNameProblems(raw), ...secretProblems];
  if (!result.success || problems.length > 0) return { config: null, problems, warnings: [] };
  return {
    config: buildConfig(result.data, secrets, folder),
    problems,
    warnings: [...secretWarnings, ...warningsOf(result.data, secrets, known)],
  };
}

/** Which missing secrets are mistakes, and which only worth a word. */
function weighed(
  missing: readonly Problem[],
  needed: NonNullable<LoadOptions["secrets"]>,
): readonly [problems: readonly Problem[], warnings: readonly Problem[]] {
  if (needed === "required") return [missing, []];
  if (needed === "when_used") return [[], []];
  return [missing.filter((one) => !isOfWebhook(one)), missing.filter(isOfWebhook)];
}

/** `companies.NAME.webhook.…` */
function isOfWebhook({ path: place }: Problem): boolean {
  return place[2] === "webhook";
}

/** `http:` with everything below it commented out is the same as no `http:`. */
function withoutEmptySections(value: unknown): unknown {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, section]) => section !== null));
}

function connectorOf(raw: unknown, connectors: LoadOptions["connectors"]): KnownConnector {
  const name: unknown = (raw as { connector?: unknown } | null)?.connector;
  return connectors.find((connector) => connector.name === name) ?? connectors[0];
}

function warningsOf(shaped: ShapedConfig, secrets: ResolvedSecrets, known: KnownConnector): Problem[] {
  const literals = secrets.literals.map((place) => ({
    path: place,
    at: "value" as const,
    message: `${pathText(place)} stands in the file itself; \${env:NAME} or \${file:/path} keeps it out`,
  }));
  if (known.languages.length === 0 || known.languages.includes(shaped.language)) return literals;
  const message = `${known.name} is not known to speak "${shaped.language}" (${known.languages.join(", ")})`;
  return [...literals, { path: ["language"], at: "value", message }];
}

interface Located {
  readonly position: Position;
  readonly message: string;
}

function located(problems: readonly Problem[], yaml: YamlFile): Located[] {
  return problems.map(({ path: place, at, message }) => ({ position: yaml.locate(place, at), message }));
}

function refuse(problems: readonly Located[], place: (position: Position) => string): void {
  if (problems.length === 0) return;
  const ordered = problems.toSorted(
    (a, b) => a.position.line - b.position.line || a.position.column - b.position.column,
  );
  const lines = ordered.map(({ position, message }) => `${place(position)}: ${message}`);
  throw new MirrorError("config", lines.join("\n"), { hint: howToWrite });
}
