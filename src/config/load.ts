import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { nearestPresent } from "../base/files/atomic-file.ts";
import { assert, MirrorError, readNamed } from "../base/errors.ts";
import { someOf } from "../base/names.ts";
import { companyNameProblems, problemsOf, type ConfigProblem } from "./config-problems.ts";
import { configSchema, type KnownConnector } from "./config-schema.ts";
import type { Config } from "./config.ts";
import { postgresSecrets } from "./fleet-section.ts";
import {
  isSigningKey,
  readSecretFile,
  resolveSecrets,
  shortestSecret,
  tooShort,
  type ResolvedSecrets,
} from "./secrets.ts";
import {
  configPath,
  pathText,
  problemLine,
  readYaml,
  valueAt,
  type LocatedProblem,
  type Path,
  type YamlFile,
} from "./yaml.ts";

export interface LoadOptions {
  /** `--config`; otherwise `$FINTORO_MIRROR_CONFIG`, otherwise `./config.yaml`. */
  readonly path?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** @default the disk's */
  readonly readFile?: (path: string) => string;
  readonly connectors: readonly [KnownConnector, ...KnownConnector[]];
  /**
   * `required`: a missing variable or file is a warning, because it concerns its company alone; it is an error where
   * no company has its token. `when_used`: it is an error only when the secret is used, so that reading the mirror
   * needs no token. @default "required"
   */
  readonly secrets?: "required" | "when_used";
  /** For commands that take companies from Postgres: `fleet` must be there, and `companies` may be missing. @default false */
  readonly forFleet?: boolean | undefined;
}

export interface LoadedConfig {
  readonly config: Config;
  /** Whole sentences with file, line and column. */
  readonly warnings: readonly string[];
  readonly path: string;
  /** What the file says, with references to secrets as they are written. */
  readonly raw: unknown;
  /** `config.yaml:4:18`: where a key stands. */
  readonly placeOf: (key: Path) => string;
}

/** Finds, reads and checks the config. Throws one MirrorError `config` that names every mistake in it. */
export function loadConfig(options: LoadOptions): LoadedConfig {
  const file = configPath(options.path, options.env, options.cwd);
  const shownPath = shortPath(file, options.cwd);
  const read = () => options.readFile?.(file) ?? readFileSync(file, "utf8");
  const yaml = readYaml(readNamed(read, "config", `the config ${shownPath}`, howToBegin));
  refuse(yaml.problems, shownPath, howToWrite());
  const checked = check(yaml, options, file, shownPath);
  const placeOf = (key: Path) => {
    const { line, column } = yaml.locate(key, "key");
    return `${shownPath}:${line}:${column}`;
  };
  return { ...checked, path: file, raw: yaml.value, placeOf };
}

const howToBegin =
  "`fintoro-mirror init` writes one; or name yours with --config FILE or $FINTORO_MIRROR_CONFIG";
const howToWrite = (option = "") =>
  `\`fintoro-mirror schema${option}\` describes every key; config.example.yaml is a start`;
const howToGiveSecrets =
  "set the variable where the program starts (shell, crontab, unit), or put the secret alone into the file (mode 0600)";

/** The path of a file as it is typed in the folder `cwd`; absolute when the file is outside, or `cwd` is the root. */
export function shortPath(file: string, cwd: string): string {
  const relative = path.relative(cwd, file);
  const isOutside = relative.startsWith("..") || path.isAbsolute(relative);
  return isOutside || cwd === path.parse(cwd).root ? file : relative || ".";
}

function check(
  yaml: YamlFile,
  { env, readFile = readSecretFile, connectors, secrets: needed, forFleet = false }: LoadOptions,
  file: string,
  shownPath: string,
): Pick<LoadedConfig, "config" | "warnings"> {
  const raw = withoutEmptySections(yaml.value);
  const name: unknown = (raw as { connector?: unknown } | null)?.connector;
  const known = connectors.find((connector) => connector.name === name) ?? connectors[0];
  const folder = path.dirname(file);
  const others = connectors.filter((one) => one !== known).map((one) => one.name);
  const secrets = resolveSecrets(raw, { env, readFile, folder });
  const schema = configSchema(known, { folder, secrets, others, forFleet });
  // To compile code for a file that is checked once takes longer than to check it.
  const result = schema.safeParse(raw, { reportInput: true, jitless: true });
  const wrong = result.success ? [] : problemsOf(result.error.issues, schema);
  const missing = needed === "when_used" ? [] : missingSecrets(secrets);
  const problems = [...wrong, ...companyNameProblems(raw, forFleet), ...shortSecrets(secrets)];
  const tokens = [...secrets.values()].filter((one) => one.kind === "token");
  const isRefused = problems.length > 0 || tokens.every(({ secret }) => !secret.known);
  const refused = isRefused ? missing.filter((one) => one.kind === "token") : [];
  const option = known === connectors[0] ? "" : ` --connector ${known.name}`;
  const hint = problems.length > 0 ? hintFor(raw, forFleet, option) : howToGiveSecrets;
  refuse(located([...problems, ...refused], yaml), shownPath, hint);
  assert(result.success, "a config without problems is complete");
  const config: Config = deepFreeze(result.data);
  refuse(located(takenFolders(config), yaml), shownPath, "move the file away, or name another folder");
  const warnings = located([...missing, ...warningsOf(config, secrets, known)], yaml);
  return { config, warnings: warnings.map((warning) => problemLine(shownPath, warning)) };
}

function hintFor(raw: unknown, forFleet: boolean, option: string): string {
  const hasFleet = valueAt(raw, ["fleet"]) !== undefined;
  if (forFleet && !hasFleet)
    return 'add fleet: { postgres: "${env:DATABASE_URL}", snapshots: s3://bucket/prefix }; docs/fleet.md says more';
  const hasCompanies = Object.keys(valueAt(raw, ["companies"]) ?? {}).length > 0;
  return hasFleet && !forFleet && !hasCompanies
    ? "only `worker` and `fleet` take companies from Postgres: name those of this command in the config"
    : howToWrite(option);
}

/** Folders of the config in whose place, or above, a file stands. */
function takenFolders({ dataDir, report, fleet }: Config): ConfigProblem[] {
  const folders = {
    data_dir: dataDir,
    "report.out": report.out,
    "fleet.snapshots": fleet?.snapshots ?? null,
    "fleet.reports": fleet?.reports ?? null,
  };
  return Object.entries(folders).flatMap(([key, folder]) => {
    if (folder === null || folder.startsWith("s3://")) return [];
    const present = nearestPresent(folder);
    if (statSync(present).isDirectory()) return [];
    const message = `${key} needs a folder, and ${present} is a file`;
    return [{ path: key.split("."), at: "value" as const, message }];
  });
}

/** Without that of Postgres: commands that need it say so when they use it, and others need none. */
function missingSecrets(secrets: ResolvedSecrets) {
  return [...secrets.values()].flatMap(({ path: place, kind, secret: { problem } }) =>
    problem !== null && kind !== "postgres"
      ? [{ path: place, kind, at: "value" as const, message: problem }]
      : [],
  );
}

/** Those that stand in the config itself: any other concerns its company alone. */
function shortSecrets(secrets: ResolvedSecrets): ConfigProblem[] {
  return [...secrets.values()].flatMap(({ path: place, kind, secret }) => {
    if (!secret.known || !isSigningKey(kind) || secret.reveal().length >= shortestSecret) return [];
    return [{ path: place, at: "value" as const, message: `${pathText(place)} ${tooShort}` }];
  });
}

/** `http:` with everything below it commented out is the same as no `http:`. */
function withoutEmptySections(value: unknown): unknown {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, section]) => section !== null));
}

function deepFreeze<T>(value: T): T {
  if (value === null || typeof value !== "object" || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const each of Object.values(value)) deepFreeze(each);
  return value;
}

function warningsOf(config: Config, secrets: ResolvedSecrets, known: KnownConnector): ConfigProblem[] {
  const literals = [...secrets.values()].filter(
    ({ kind, place, secret }) =>
      place.kind === "config" &&
      secret.known &&
      kind !== "address" &&
      (kind !== "postgres" || postgresSecrets(secret).length > 0),
  );
  const warnings = literals.length > 0 ? [literalWarning(literals.map(({ path: place }) => place))] : [];
  if (known.languages.length === 0 || known.languages.includes(config.language)) return warnings;
  const message = `${known.name} is not known to speak "${config.language}" (${known.languages.join(", ")})`;
  return [...warnings, { path: ["language"], at: "value", message }];
}

/** One line, however many companies the file has. */
function literalWarning(places: readonly Path[]): ConfigProblem {
  const named = someOf(places.map(pathText), 3);
  const [stand, them] = places.length > 1 ? ["stand", "them"] : ["stands", "it"];
  const message = `${named} ${stand} in the file itself; \${env:NAME} or \${file:/path} keeps ${them} out`;
  return { path: places[0] ?? [], at: "value", message };
}

function located(problems: readonly ConfigProblem[], yaml: YamlFile): LocatedProblem[] {
  return problems.map(({ path: place, at, message }) => ({ ...yaml.locate(place, at), message }));
}

function refuse(problems: readonly LocatedProblem[], shownPath: string, hint: string): void {
  if (problems.length === 0) return;
  const ordered = problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
  const lines = ordered.map((one) => problemLine(shownPath, one));
  throw new MirrorError("config", lines.join("\n"), { hint });
}
