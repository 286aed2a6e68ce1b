import { existsSync } from "node:fs";
import path from "node:path";
import { makeFolders, writeFileAtomically } from "../../base/atomic-file.ts";
import { hintOf, messageOf, MirrorError } from "../../base/errors.ts";
import { configJsonSchema } from "../../config/config-schema.ts";
import { shortPath } from "../../config/load.ts";
import { makePageToken, pageTokenFile } from "../../status/page/page-token.ts";
import { configPath } from "../../config/yaml.ts";
import { printResult } from "../console/output.ts";
import { draftText, loadDraft, tokenFileOf } from "../init/config-draft.ts";
import { askChoices, usualSchedule, type CheckedDraft, type InitQuestions } from "../init/init-questions.ts";
import { installJob, jobText, type JobPlace, type Starter } from "../init/start-job.ts";
import type { CommandRun } from "../program/command-table.ts";
import { ownEntry } from "../program/own-process.ts";
import type { CommandContext } from "../program/command.ts";

/** Writes a first config: asks for what it needs, and checks the token before anything is written. */
export const initCommand: CommandRun<"init"> = async (context, { options }) => {
  const { cwd, globals, env, log } = context;
  const prompts = options.input ? (context.prompts ?? null) : null;
  const file = configPath(globals.config, env, cwd);
  const questions: InitQuestions = { context, options, prompts };
  refuseToReplace([file], options.force, cwd);
  const draft = await askChoices(questions, file);
  const secrets = draft.newToken === null ? [] : [tokenFileOf(draft)];
  refuseToReplace(secrets, options.force, cwd);
  const job = jobOf(draft);
  const starter = options.install ?? (await askStarter(questions, job));
  // After the last question: who cancels one leaves nothing behind.
  const written = writeFiles(context, draft);
  const pageToken = draft.choices.webhook === null ? null : writePageToken(context, draft);
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
    `${shortPath(file, cwd)} is written, for "${draft.serviceName}"`,
    ...written.slice(1).map((one) => `${shortPath(one, cwd)} is written`),
    ...(pageToken === null ? [] : [`the status page asks for the token in ${shortPath(pageToken, cwd)}`]),
    ...(installed ? [installed] : []),
    ...next.map((step) => `next: ${step}`),
  ];
  const document = {
    config: file,
    company: draft.choices.company,
    name: draft.serviceName,
    written,
    page_token_file: pageToken,
    installed,
    next,
  };
  await printResult(context, document, lines);
  return isFailed ? "failed" : "complete";
};

function refuseToReplace(files: readonly string[], force: boolean, cwd: string): void {
  const present = files.find((file) => existsSync(file));
  if (force || present === undefined) return;
  throw new MirrorError("config", `${shortPath(present, cwd)} is there already; nothing was written`, {
    hint: "`fintoro-mirror check` tries what is there; --config FILE writes another one, --force replaces it",
  });
}

/** The config comes last: where it stands, everything it names does. Gives the files, the config first. */
function writeFiles(context: CommandContext, draft: CheckedDraft): string[] {
  const { manifest } = context.connectors[0];
  const folder = path.dirname(draft.file);
  const written: string[] = [];
  const write = (file: string, text: string) => {
    makeFolders(path.dirname(file));
    writeFileAtomically(file, text);
    written.unshift(file);
  };
  const isSecretHere = draft.newToken !== null || draft.choices.webhook !== null;
  if (isSecretHere) write(path.join(folder, "secrets/.gitignore"), "*\n");
  if (draft.newToken !== null) write(tokenFileOf(draft), `${draft.newToken}\n`);
  write(path.join(folder, "config.schema.json"), `${JSON.stringify(configJsonSchema(manifest), null, 2)}\n`);
  write(draft.file, draftText(context, draft));
  return written;
}

/** Who has an address on the internet has a proxy or a tunnel, behind which the pages of `serve` need a token. */
function writePageToken(context: CommandContext, draft: CheckedDraft): string {
  const file = pageTokenFile(loadDraft(context, draft).config.dataDir);
  context.keepSecret([makePageToken(file)]);
  return file;
}

function jobOf({ file, choices }: CheckedDraft): JobPlace {
  const { schedule } = choices;
  const isNightly = schedule.trim().split(/\s+/).length === 5;
  return {
    node: process.execPath,
    entry: ownEntry(),
    config: file,
    schedule: isNightly ? schedule : usualSchedule,
  };
}

/** Shows what would be installed, and installs nothing without a yes. */
async function askStarter({ prompts, context }: InitQuestions, job: JobPlace): Promise<Starter | null> {
  const starter = await prompts?.one("Who starts it?", [
    { value: "none", label: "I do, or somebody else" },
    { value: "cron", label: "cron: one run every night" },
    { value: "systemd", label: "systemd: serve runs all the time, and receives webhooks" },
  ]);
  if (!prompts || starter === undefined || starter === "none") return null;
  for (const line of jobText(starter, job).split("\n")) context.log.info(line);
  const where =
    starter === "cron" ? "Add this line to your crontab?" : "Install and start this unit, for your user?";
  return (await prompts.confirm(where)) ? starter : null;
}

function nextSteps(
  { cwd, env }: CommandContext,
  { file, choices }: CheckedDraft,
  isInstalled: boolean,
): string[] {
  const shown = shortPath(file, cwd);
  // npm says so to what npx starts, which need not be on the path.
  const program = env["npm_command"] === "exec" ? "npx fintoro-mirror" : "fintoro-mirror";
  const command = (name: string) =>
    `${program} ${name}${shown === "config.yaml" ? "" : ` --config ${shown}`}`;
  const variable = /^\$\{env:(.*)\}$/.exec(choices.token)?.[1];
  return [
    ...(variable !== undefined && isInstalled
      ? [`set ${variable} where the job is started: it does not see this shell's`]
      : []),
    ...(choices.webhook ? [command("webhooks create --token-env NAME")] : []),
    command("sync"),
  ];
}
