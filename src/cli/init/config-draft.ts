import { readFileSync } from "node:fs";
import path from "node:path";
import { assert, MirrorError } from "../../base/errors.ts";
import type { ExportConfig } from "../../config/config.ts";
import { loadConfig, type LoadedConfig } from "../../config/load.ts";
import { formatScalar } from "../../config/yaml.ts";
import type { CommandContext } from "../program/command.ts";

export const fileKinds = ["pdf", "attachments"] as const;

/** A config that is not written yet: what it says besides the defaults. */
export interface ConfigDraft {
  /** Absolute, where it will stand. */
  readonly file: string;
  readonly baseUrl: string;
  readonly company: string;
  /** Where the token is, as the config says; or the token itself, which is in no file yet. */
  readonly token: { readonly place: string } | { readonly text: string };
  /** A cron pattern, or `off`. */
  readonly schedule: string;
  /** Where events are received; empty: nowhere. */
  readonly publicUrl: string;
  readonly exports: readonly ExportConfig["format"][];
  readonly files: readonly (typeof fileKinds)[number][];
}

/** Loads the draft as if it were written. Throws MirrorError `config` that says what is wrong with it. */
export function loadDraft(context: CommandContext, draft: ConfigDraft): LoadedConfig {
  const { env, cwd, connector } = context;
  const readFile = (file: string) => {
    if (file === draft.file) return draftText(context, draft);
    return "text" in draft.token && file === tokenFileOf(draft)
      ? draft.token.text
      : readFileSync(file, "utf8");
  };
  return loadConfig({ path: draft.file, env, cwd, readFile, connectors: [connector.manifest] });
}

/** What is wrong with the draft, in a sentence; undefined: nothing. */
export function problemOfDraft(context: CommandContext, draft: ConfigDraft): string | undefined {
  try {
    loadDraft(context, draft);
    return undefined;
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    const [first = ""] = error.message.split("\n");
    return first.replace(/^.*?:\d+:\d+: /, "");
  }
}

function secretFile(company: string, what: "token" | "webhook-secret"): string {
  return `./secrets/${company}-${what}`;
}

/** Absolute path of the file where the draft's new token is to be kept. */
export function tokenFileOf({ company, file }: ConfigDraft): string {
  return path.resolve(path.dirname(file), secretFile(company, "token"));
}

export function referenceToFile(file: string): string {
  return `\${file:${file}}`;
}

/** The text of the draft's config: the commented example with these choices in their places. */
export function draftText({ exampleConfig }: CommandContext, draft: ConfigDraft): string {
  const { baseUrl, company, token, schedule, publicUrl, exports, files } = draft;
  const place = "place" in token ? token.place : referenceToFile(secretFile(company, "token"));
  const secret = referenceToFile(secretFile(company, "webhook-secret"));
  const companies = [
    "companies:",
    `  ${formatScalar(company)}: # a name of your choice; the mirror is <data_dir>/${company}.db`,
    `    token: ${formatScalar(place)} # reading is all it must be allowed`,
  ];
  if (publicUrl !== "")
    companies.push(
      "    webhook:",
      `      secrets: [${JSON.stringify(secret)}] # the old and the new one during a rotation`,
      `      public_url: ${formatScalar(publicUrl)}`,
    );
  const kept = fileKinds.map((kind) => `${kind}: ${files.includes(kind) ? "on" : "off"}`);
  const made = exports.map((format) => `\n  - { format: ${format}, out: ./reports, after: sync }`);
  const steps: [RegExp, string][] = [
    [/^base_url: \S+/m, `base_url: ${formatScalar(baseUrl)}`],
    [/^companies:\n(?:[ \t].*\n)*/m, `${companies.join("\n")}\n`],
    [/^ {2}sync: (?:"[^"]*"|\S+)/m, `  sync: ${formatScalar(schedule)}`],
    [/^files: \{[^}]*\}/m, `files: { ${kept.join(", ")} }`],
    ...(made.length > 0 ? [[/^exports: \[\].*$/m, `exports:${made.join("")}`] as [RegExp, string]] : []),
  ];
  return steps.reduce((text, [pattern, replacement]) => {
    assert(pattern.test(text), `the example has a place for ${replacement}`);
    return text.replace(pattern, () => replacement);
  }, exampleConfig());
}
