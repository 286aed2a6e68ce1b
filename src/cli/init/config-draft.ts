import { readFileSync } from "node:fs";
import path from "node:path";
import { assert, MirrorError } from "../../base/errors.ts";
import type { ExportConfig } from "../../config/config.ts";
import { loadConfig, type LoadedConfig } from "../../config/load.ts";
import { formatScalar } from "../../config/yaml.ts";
import type { CommandContext } from "../program/command.ts";

/** What a new config says besides the defaults. */
export interface ConfigChoices {
  readonly baseUrl: string;
  /** The name of its one company. */
  readonly company: string;
  /** `${env:NAME}` or `${file:/path}` */
  readonly token: string;
  /** Where events are received; null: nowhere. */
  readonly webhook: { readonly secret: string; readonly publicUrl: string } | null;
  /** A cron pattern, or `off`. */
  readonly schedule: string;
  readonly exports: readonly ExportConfig["format"][];
  readonly pdf: boolean;
  readonly attachments: boolean;
}

/** A config that is not written yet. */
export interface ConfigDraft {
  readonly choices: ConfigChoices;
  /** Absolute, where it will stand. */
  readonly file: string;
  /** The token, where it is in no file yet; null: it is where `choices.token` says. */
  readonly newToken: string | null;
}

/** The text of the draft's config. */
export function draftText({ exampleConfig }: CommandContext, { choices }: ConfigDraft): string {
  return configText(exampleConfig(), choices);
}

/** Loads the draft as if it were written. Throws MirrorError `config` that says what is wrong with it. */
export function loadDraft(context: CommandContext, draft: ConfigDraft): LoadedConfig {
  const text = draftText(context, draft);
  const tokenFile = draft.newToken === null ? null : tokenFileOf(draft);
  const readFile = (file: string) => {
    if (file === draft.file) return text;
    return file === tokenFile ? (draft.newToken ?? "") : readFileSync(file, "utf8");
  };
  const { env, cwd, connectors } = context;
  return loadConfig({ path: draft.file, env, cwd, readFile, connectors: [connectors[0].manifest] });
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

/** Where a secret of a company is kept, as the config names it. */
export function secretPlace(company: string, what: "token" | "webhook-secret"): string {
  return `./secrets/${company}-${what}`;
}

/** Absolute path of the file where the draft's new token is to be kept. */
export function tokenFileOf({ choices, file }: ConfigDraft): string {
  return path.resolve(path.dirname(file), secretPlace(choices.company, "token"));
}

/** The commented example with these choices in their places. Pure. */
function configText(example: string, choices: ConfigChoices): string {
  const { baseUrl, schedule, exports, pdf, attachments } = choices;
  const files = `{ pdf: ${pdf ? "on" : "off"}, attachments: ${attachments ? "on" : "off"} }`;
  const steps: [RegExp, string][] = [
    [/^base_url: \S+/m, `base_url: ${formatScalar(baseUrl)}`],
    [/^companies:\n(?:[ \t].*\n)*/m, companySection(choices)],
    [/^ {2}sync: (?:"[^"]*"|\S+)/m, `  sync: ${formatScalar(schedule)}`],
    [/^files: \{[^}]*\}/m, `files: ${files}`],
  ];
  if (exports.length > 0) steps.push([/^exports: \[\].*$/m, exportSection(exports)]);
  return steps.reduce((text, [place, replacement]) => {
    assert(place.test(text), `the example has a place for ${replacement}`);
    return text.replace(place, () => replacement);
  }, example);
}

function companySection({ company, token, webhook }: ConfigChoices): string {
  const lines = [
    "companies:",
    `  ${formatScalar(company)}: # a name of your choice; the mirror is <data_dir>/${company}.db`,
    `    token: ${formatScalar(token)} # reading is all it must be allowed`,
  ];
  if (webhook)
    lines.push(
      "    webhook:",
      `      secrets: [${JSON.stringify(webhook.secret)}] # the old and the new one during a rotation`,
      `      public_url: ${formatScalar(webhook.publicUrl)}`,
    );
  return `${lines.join("\n")}\n`;
}

function exportSection(formats: readonly string[]): string {
  return [
    "exports:",
    ...formats.map((format) => `  - { format: ${format}, out: ./reports, after: sync }`),
  ].join("\n");
}
