import { execFile } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { makeFolders, writeFileAtomically } from "../../base/files/atomic-file.ts";
import { assert, hintOf, messageOf, MirrorError } from "../../base/errors.ts";
import { shortText } from "../../base/terminal-text.ts";
import { configJsonSchema } from "../../config/config-schema.ts";
import type { ExportConfig } from "../../config/config.ts";
import { loadConfig, shortPath, type LoadedConfig } from "../../config/load.ts";
import { configPath, formatScalar } from "../../config/yaml.ts";
import { formats } from "../../connector/export-choices.ts";
import { makePageToken, pageTokenFile } from "../../status/page/page-access.ts";
import type { Prompts } from "../console/prompts.ts";
import { askWhoseToken } from "../mirror/company-scope.ts";
import { keptFiles, type CommandOptions, type CommandRun } from "../program/command-table.ts";
import type { CommandContext } from "../program/command.ts";
import { ownEntry } from "../program/own-process.ts";

export const initCommand: CommandRun<"init"> = async (context, { options }) => {
  const { cwd, globals, env, log } = context;
  const prompts = options.input ? (context.prompts ?? null) : null;
  const file = configPath(globals.config, env, cwd);
  refuseToReplace(file, options.force, cwd);
  const { draft, serviceName } = await askChoices(context, options, prompts, file);
  if ("text" in draft.token) refuseToReplace(tokenFileOf(draft), options.force, cwd);
  const { schedule, company } = draft;
  // cron knows no seconds; and where `serve` is to make no runs, it makes the usual ones.
  const fields = schedule.trim().split(/\s+/).slice(-5);
  const nightly = fields.length === 5 ? fields.join(" ") : usualSchedule;
  const job = { node: process.execPath, entry: ownEntry(), config: file, schedule: nightly };
  const starter = options.install ?? (await askStarter(prompts, context, job));
  // After the last question: who cancels one leaves nothing behind.
  const written = writeFiles(context, draft);
  // Who has an address on the internet has a proxy or a tunnel, behind which the pages of `serve` need a token.
  const pageToken = draft.publicUrl === "" ? null : pageTokenFile(loadDraft(context, draft).config.dataDir);
  if (pageToken !== null) context.onSecrets([makePageToken(pageToken)]);
  const installed =
    starter &&
    (await installJob(starter, job, env).catch((error: unknown) => {
      log.error(messageOf(error), hintOf(error));
      return null;
    }));
  const next = nextSteps(context, draft, installed !== null);
  const lines = [
    `${shortPath(file, cwd)} is written, for "${serviceName}"`,
    ...written.slice(1).map((one) => `${shortPath(one, cwd)} is written`),
    ...(pageToken === null ? [] : [`the status page asks for the token in ${shortPath(pageToken, cwd)}`]),
    ...(installed ? [installed] : []),
    ...next.map((step) => `next: ${step}`),
  ];
  const document = { config: file, company, name: serviceName, written, page_token_file: pageToken };
  await context.print({ ...document, installed, next }, lines);
  return starter && !installed ? "failed" : "complete";
};

function refuseToReplace(file: string, force: boolean, cwd: string): void {
  const there = statSync(file, { throwIfNoEntry: false });
  if (there?.isDirectory())
    throw new MirrorError("config", `${shortPath(file, cwd)} is a folder; nothing was written`);
  if (force || !there) return;
  throw new MirrorError("config", `${shortPath(file, cwd)} is there already; nothing was written`, {
    hint: "`fintoro-mirror check` tries what is there; --config FILE writes another one, --force replaces it",
  });
}

/** The config comes last: where it stands, everything it names does. Gives the files, the config first. */
function writeFiles(context: CommandContext, draft: ConfigDraft): string[] {
  const folder = path.dirname(draft.file);
  const written: string[] = [];
  const write = (file: string, text: string) => {
    makeFolders(path.dirname(file));
    writeFileAtomically(file, text);
    written.unshift(file);
  };
  const schema = configJsonSchema(context.connector.declaration);
  if ("text" in draft.token || draft.publicUrl !== "") write(path.join(folder, "secrets/.gitignore"), "*\n");
  if ("text" in draft.token) write(tokenFileOf(draft), `${draft.token.text}\n`);
  write(path.join(folder, "config.schema.json"), `${JSON.stringify(schema, null, 2)}\n`);
  write(draft.file, draftText(context, draft));
  return written;
}

function nextSteps({ cwd, env }: CommandContext, draft: ConfigDraft, isInstalled: boolean): string[] {
  const { file, token, publicUrl } = draft;
  const shown = shortPath(file, cwd);
  // npm says so to what npx starts, which need not be on the path.
  const program = env["npm_command"] === "exec" ? "npx fintoro-mirror" : "fintoro-mirror";
  const config = shown === "config.yaml" ? "" : ` --config ${shown}`;
  const variable = "place" in token ? /^\$\{env:(.*)\}$/.exec(token.place)?.[1] : undefined;
  return [
    ...(variable !== undefined && isInstalled
      ? [`set ${variable} where the job is started: it does not see this shell's`]
      : []),
    ...(publicUrl === "" ? [] : [`${program} webhooks create --token-env NAME${config}`]),
    `${program} sync${config}`,
  ];
}

const usualSchedule = "15 2 * * *";
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
async function askChoices(
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
interface ConfigDraft {
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

/** Loads the draft as if it were written. Throws MirrorError `config` that says what is wrong with it, in a sentence. */
function loadDraft(context: CommandContext, draft: ConfigDraft): LoadedConfig {
  const { env, cwd, connector } = context;
  const readFile = (file: string) => {
    if (file === draft.file) return draftText(context, draft);
    return "text" in draft.token && file === tokenFileOf(draft)
      ? draft.token.text
      : readFileSync(file, "utf8");
  };
  try {
    return loadConfig({ path: draft.file, env, cwd, readFile, connectors: [connector.declaration] });
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    const [first = ""] = error.message.split("\n");
    // Nobody can look at the place in a file that is not written.
    throw new MirrorError(error.kind, first.replace(/^.*?:\d+:\d+: /, ""), { hint: error.hint });
  }
}

/** What is wrong with the draft, in a sentence; undefined: nothing. */
function problemOfDraft(context: CommandContext, draft: ConfigDraft): string | undefined {
  try {
    loadDraft(context, draft);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

function secretFile(company: string, what: "token" | "webhook-secret"): string {
  return `./secrets/${company}-${what}`;
}

function tokenFileOf({ company, file }: ConfigDraft): string {
  return path.resolve(path.dirname(file), secretFile(company, "token"));
}

function referenceToFile(file: string): string {
  return `\${file:${file}}`;
}

/** The text of the draft's config: the commented example with these choices in their places. */
function draftText({ exampleConfig }: CommandContext, draft: ConfigDraft): string {
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

/** Shows what would be installed, and installs nothing without a yes. */
async function askStarter(prompts: Prompts | null, { log }: CommandContext, job: JobPlace) {
  const starter = await prompts?.one("Who starts it?", [
    { value: "none", label: "I do, or somebody else" },
    { value: "cron", label: "cron: one run every night" },
    { value: "systemd", label: "systemd: serve runs all the time, and receives webhooks" },
  ]);
  if (!prompts || starter === undefined || starter === "none") return null;
  for (const line of jobText(starter, job).split("\n")) log.info(line);
  const where =
    starter === "cron" ? "Add this line to your crontab?" : "Install and start this unit, for your user?";
  return (await prompts.confirm(where)) ? starter : null;
}

/** Who starts the program: a user's crontab every night, or a user's systemd, which keeps `serve` running. */
type Starter = "cron" | "systemd";

/** What is started: absolute paths, and a cron pattern with five fields. */
interface JobPlace {
  readonly node: string;
  readonly entry: string;
  readonly config: string;
  readonly schedule: string;
}

export function jobText(starter: Starter, { node, entry, config, schedule }: JobPlace): string {
  if (starter === "cron") {
    const words = [node, "--disable-sigusr1", entry, "sync", "--quiet", "--config", config];
    return `${schedule} ${words.map(cronWord).join(" ")}`;
  }
  const places: Readonly<Record<string, string>> = { NODE: node, ENTRY: entry, CONFIG: config };
  const unit = readFileSync(new URL("./assets/user.service", import.meta.url), "utf8").trimEnd();
  return unit.replaceAll(/\b(?:NODE|ENTRY|CONFIG)\b/g, (name) => unitWord(places[name] ?? ""));
}

/** A word for the shell; a percent sign would end a crontab's command. */
function cronWord(text: string): string {
  const word = /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
  return word.replaceAll("%", String.raw`\%`);
}

/** A word of a unit's command line, where `%` and `$` begin names. */
function unitWord(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll(/[%$]/g, "$&$&")}"`;
}

const unitName = "fintoro-mirror.service";

/**
 * Installs what `jobText` shows, for the user that runs this: a config has one line of the crontab.
 * @returns what was done, in a sentence
 * @throws MirrorError `runtime` where crontab or systemctl fails
 */
async function installJob(starter: Starter, place: JobPlace, env: NodeJS.ProcessEnv): Promise<string> {
  const text = jobText(starter, place);
  if (starter === "cron") {
    const before = await runTool("crontab", ["-l"], env).catch((error: unknown) => {
      // One that is there and cannot be read is not replaced.
      if (/no crontab|no such file/i.test(messageOf(error))) return "";
      throw error;
    });
    const lines = before === "" ? [] : before.replace(/\n$/, "").split("\n");
    if (lines.includes(text)) return "the crontab has the line already";
    // Node and this program may have moved since.
    const ending = text.slice(text.indexOf(" sync --quiet "));
    const others = lines.filter((line) => line.startsWith("#") || !line.endsWith(ending));
    await runTool("crontab", ["-"], env, [...others, text, ""].join("\n"));
    return "the line is in the crontab: `crontab -l` shows it";
  }
  const folder = path.join(env["XDG_CONFIG_HOME"] || path.join(env["HOME"] ?? "", ".config"), "systemd/user");
  const file = path.join(folder, unitName);
  if (existsSync(file)) throw new MirrorError("runtime", `${file} is there already; it stays as it is`);
  makeFolders(folder);
  writeFileAtomically(file, `${text}\n`);
  await runTool("systemctl", ["--user", "daemon-reload"], env);
  await runTool("systemctl", ["--user", "enable", "--now", unitName], env);
  return `${file} is started; \`loginctl enable-linger\` keeps it running when you log out`;
}

async function runTool(name: string, args: readonly string[], env: NodeJS.ProcessEnv, input = "") {
  const running = promisify(execFile)(name, args, { env, timeout: 30_000 });
  running.child.stdin?.on("error", () => undefined).end(input);
  const { stdout } = await running.catch((cause: Error & { readonly stderr?: string }) => {
    const why = cause.stderr?.trim() || messageOf(cause);
    throw new MirrorError("runtime", `${name} ${args.join(" ")} failed: ${why}`, { cause });
  });
  return stdout;
}
