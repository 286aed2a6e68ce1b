import { execFile } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { makeFolders, writeFileAtomically } from "../../base/files/atomic-file.ts";
import { hintOf, messageOf, MirrorError } from "../../base/errors.ts";
import { configJsonSchema } from "../../config/config-schema.ts";
import { shortPath } from "../../config/load.ts";
import { configPath } from "../../config/yaml.ts";
import { makePageToken, pageTokenFile } from "../../status/page/page-access.ts";
import type { Prompts } from "../console/prompts.ts";
import { askChoices, draftText, loadDraft, tokenFileOf, usualSchedule } from "./init-questions.ts";
import type { ConfigDraft } from "./init-questions.ts";
import type { CommandRun } from "../program/command-table.ts";
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
  const nightly = schedule.trim().split(/\s+/).length === 5 ? schedule : usualSchedule;
  const job = { node: process.execPath, entry: ownEntry(), config: file, schedule: nightly };
  const starter = options.install ?? (await askStarter(prompts, context, job));
  // After the last question: who cancels one leaves nothing behind.
  const written = writeFiles(context, draft);
  // Who has an address on the internet has a proxy or a tunnel, behind which the pages of `serve` need a token.
  const pageToken = draft.publicUrl === "" ? null : pageTokenFile(loadDraft(context, draft).config.dataDir);
  if (pageToken !== null) context.onSecrets([makePageToken(pageToken)]);
  let isFailed = false;
  const installed =
    starter &&
    (await installJob(starter, job, env).catch((error: unknown) => {
      log.error(messageOf(error), hintOf(error));
      isFailed = true;
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
  return isFailed ? "failed" : "complete";
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

/** Who starts the program: a user's crontab every night, or a user's systemd, which keeps `serve` running. */
type Starter = "cron" | "systemd";

/** What is started: absolute paths, and a cron pattern with five fields. */
interface JobPlace {
  readonly node: string;
  readonly entry: string;
  readonly config: string;
  readonly schedule: string;
}

/** What would be installed, as it is shown first. */
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
 * Installs what `jobText` shows, for the user that runs this: a line that the crontab has already is not added again.
 * @returns what was done, in a sentence
 * @throws MirrorError `runtime` where crontab or systemctl fails
 */
export async function installJob(starter: Starter, place: JobPlace, env: NodeJS.ProcessEnv): Promise<string> {
  const text = jobText(starter, place);
  if (starter === "cron") {
    const before = await runTool("crontab", ["-l"], env).catch((error: unknown) => {
      // One that is there and cannot be read is not replaced.
      if (/no crontab|no such file/i.test(messageOf(error))) return "";
      throw error;
    });
    if (before.split("\n").includes(text)) return "the crontab has the line already";
    const gap = before === "" || before.endsWith("\n") ? "" : "\n";
    await runTool("crontab", ["-"], env, `${before}${gap}${text}\n`);
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
