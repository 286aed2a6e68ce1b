import path from "node:path";
import { hintOf, MirrorError, assert } from "../../base/errors.ts";
import { shortText } from "../../base/terminal-text.ts";
import { formats } from "../../connector/export-choices.ts";
import type { Prompts } from "../console/prompts.ts";
import { askWhoseToken } from "../mirror/company-scope.ts";
import { keptFiles, type CommandOptions } from "../program/command-table.ts";
import type { CommandContext } from "../program/command.ts";
import { readFileSync } from "node:fs";
import type { ExportConfig } from "../../config/config.ts";
import { loadConfig, type LoadedConfig } from "../../config/load.ts";
import { formatScalar } from "../../config/yaml.ts";

export const usualSchedule = "15 2 * * *";
/** Until the service has said whose the token is. */
const usualCompany = "company";
/** A token that is refused is asked for this many times. */
const mostTokens = 3;
const fileLabels = { pdf: "PDFs of documents", attachments: "attachments of CRM events" };

/**
 * Takes the choices from the options and asks for the others; one request checks the token.
 * @param prompts null: nobody is asked, and what the options leave out is as usual
 * @param file of the config, absolute
 * @returns a config to write, and whose company it is, as the service calls it
 * @throws MirrorError `usage` for a choice that makes no config, or the service's own
 */
export async function askChoices(
  context: CommandContext,
  options: CommandOptions<"init">,
  prompts: Prompts | null,
  file: string,
): Promise<{ readonly draft: ConfigDraft; readonly serviceName: string }> {
  let draft: ConfigDraft = {
    file,
    baseUrl: context.connector.declaration.baseUrl,
    company: usualCompany,
    token: { place: "not-known-yet" },
    schedule: usualSchedule,
    publicUrl: "",
    exports: [],
    files: [],
  };
  const choose = async (
    key: "baseUrl" | "company" | "schedule" | "publicUrl",
    given: string | undefined,
    message: string,
    usual = draft[key],
  ) => {
    const problem = (answer: string) => problemOfDraft(context, { ...draft, [key]: answer });
    const answer = given ?? (prompts ? await prompts.text({ message, usual, problem }) : usual);
    const wrong = problem(answer);
    if (wrong !== undefined) throw new MirrorError("usage", wrong);
    draft = { ...draft, [key]: answer };
  };
  await choose("baseUrl", options.baseUrl, "Where does the service answer?");
  const { token, serviceName } = await askToken(context, options, prompts, draft);
  draft = { ...draft, token };
  const whose = `The token reads "${shortText(serviceName)}". A short name for files and commands?`;
  await choose("company", context.globals.company, whose, fileNameOf(serviceName));
  const when = "When does serve read everything? A cron pattern, or off";
  await choose("schedule", options.schedule, when);
  const where = "Under which URL does the service reach this machine, for webhooks? Empty: no webhooks";
  await choose("publicUrl", options.webhookUrl, where);
  const made = formats.map((value) => ({ value, label: value }));
  const exports = options.exports ?? (await prompts?.some("Which files are made after every run?", made));
  const kept = keptFiles.map((value) => ({ value, label: fileLabels[value] }));
  const files = options.files ?? (await prompts?.some("Which files of the service are kept, too?", kept));
  return { draft: { ...draft, exports: exports ?? [], files: files ?? [] }, serviceName };
}

async function askToken(
  context: CommandContext,
  options: CommandOptions<"init">,
  prompts: Prompts | null,
  draft: ConfigDraft,
): Promise<{ readonly token: ConfigDraft["token"]; readonly serviceName: string }> {
  const given = tokenPlaceIn(options, context.cwd, draft.file);
  for (let left = mostTokens; ; left--) {
    const token = given ?? (await askForToken(prompts));
    if ("text" in token) context.onSecrets([token.text]);
    try {
      const { config } = loadDraft(context, { ...draft, token });
      return { token, serviceName: await askWhoseToken(context, config) };
    } catch (error) {
      const isRefused = error instanceof MirrorError && error.kind === "unauthenticated";
      if (given || !isRefused || left <= 1) throw error;
      context.log.error(error.message, hintOf(error));
    }
  }
}

/** Where the options say that the token is; null: they do not. */
function tokenPlaceIn({ tokenEnv, tokenFile }: CommandOptions<"init">, cwd: string, config: string) {
  if (tokenEnv !== undefined) return { place: `\${env:${tokenEnv}}` };
  if (tokenFile === undefined) return null;
  const file = path.resolve(cwd, tokenFile);
  const inFolder = path.relative(path.dirname(config), file);
  return { place: referenceToFile(inFolder.startsWith("..") ? file : `./${inFolder}`) };
}

const problemOfToken = (typed: string) =>
  /^[\x21-\x7e]+$/.test(typed) ? undefined : "a token has no space and only ASCII characters";

async function askForToken(prompts: Prompts | null): Promise<ConfigDraft["token"]> {
  if (prompts === null)
    throw new MirrorError("usage", "whose company? a token is needed", {
      hint: "give --token-env NAME or --token-file FILE; at a terminal it is asked for",
    });
  const place = await prompts.one("Where is the access token kept?", [
    { value: "file", label: "in a file that nobody else can read: it is asked for now" },
    { value: "environment", label: "in an environment variable" },
  ]);
  if (place === "environment") {
    const name = await prompts.text({ message: "Which variable?", usual: "FINTORO_TOKEN" });
    return { place: `\${env:${name}}` };
  }
  const message = "The access token; reading is all it must be allowed";
  return { text: await prompts.secret({ message, problem: problemOfToken }) };
}

/** `Žltý dom, s. r. o.` -> `zlty-dom`: what a config takes as a company's name. */
function fileNameOf(name: string): string {
  const plain = name.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const words = plain.match(/[a-z0-9]+/g) ?? [];
  const text = words.join("-").replace(/-(?:s-r-o|a-s|k-s|ltd|inc|gmbh)$/, "");
  return text.slice(0, 40).replace(/-$/, "") || usualCompany;
}

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
  readonly files: readonly (typeof keptFiles)[number][];
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
  return loadConfig({ path: draft.file, env, cwd, readFile, connectors: [connector.declaration] });
}

/** What is wrong with the draft, in a sentence; undefined: nothing. */
function problemOfDraft(context: CommandContext, draft: ConfigDraft): string | undefined {
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

function referenceToFile(file: string): string {
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
  const kept = keptFiles.map((kind) => `${kind}: ${files.includes(kind) ? "on" : "off"}`);
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
