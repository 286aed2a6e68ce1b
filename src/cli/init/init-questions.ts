import path from "node:path";
import { hintOf, MirrorError } from "../../base/errors.ts";
import { didYouMean } from "../../base/names.ts";
import { shortText } from "../../base/terminal-text.ts";
import { connectService } from "../../runs/service-connection.ts";
import { formats } from "../../export/plan/export-request.ts";
import type { Prompts } from "../console/prompts.ts";
import { askWhoami } from "../mirror/whoami.ts";
import type { CommandOptions } from "../program/command-table.ts";
import type { CommandContext } from "../program/command.ts";
import {
  loadDraft,
  problemOfDraft,
  secretPlace,
  type ConfigChoices,
  type ConfigDraft,
} from "./config-draft.ts";

/** What is asked, and of whom. */
export interface InitQuestions {
  readonly context: CommandContext;
  /** What they give is not asked. */
  readonly options: CommandOptions<"init">;
  /** Null: nobody is asked, and what the options leave out is as usual. */
  readonly prompts: Prompts | null;
}

/** A config to write, and whose company it is. */
export interface CheckedDraft extends ConfigDraft {
  /** As the service calls it. */
  readonly serviceName: string;
}

/** A quarter past two every night. */
export const usualSchedule = "15 2 * * *";
/** Until the service has said whose the token is. */
const usualCompany = "company";
/** A token that is refused is asked for this many times. */
const mostTokens = 3;
const fileKinds = ["pdf", "attachments"] as const;

/**
 * Takes the choices from the options and asks for the others; one request checks the token.
 * @param file of the config, absolute
 * @throws MirrorError `usage` for a choice that makes no config, or the service's own
 */
export async function askChoices(questions: InitQuestions, file: string): Promise<CheckedDraft> {
  const { context, options } = questions;
  const empty = emptyDraft(context, file);
  const located = await choose(questions, empty, {
    given: options.baseUrl,
    message: "Where does the service answer?",
    usual: empty.choices.baseUrl,
    to: (baseUrl) => ({ baseUrl }),
  });
  const { draft: known, serviceName } = await askToken(questions, located);
  const named = await choose(questions, known, {
    given: context.globals.company,
    message: `The token reads "${shortText(serviceName)}". A short name for files and commands?`,
    usual: fileNameOf(serviceName),
    to: (company) => ({
      company,
      ...(known.newToken !== null && { token: inFile(secretPlace(company, "token")) }),
    }),
  });
  const planned = await choose(questions, named, {
    given: options.schedule,
    message: "When does serve read everything? A cron pattern, or off",
    usual: usualSchedule,
    to: (schedule) => ({ schedule }),
  });
  const secret = inFile(secretPlace(named.choices.company, "webhook-secret"));
  const receiving = await choose(questions, planned, {
    given: options.webhookUrl,
    message: "Under which URL does the service reach this machine, for webhooks? Empty: no webhooks",
    usual: "",
    to: (publicUrl) => ({ webhook: publicUrl === "" ? null : { secret, publicUrl } }),
  });
  return { ...(await askFiles(questions, receiving)), serviceName };
}

function emptyDraft({ connectors: [{ manifest }] }: CommandContext, file: string): ConfigDraft {
  const choices = {
    baseUrl: manifest.baseUrl,
    company: usualCompany,
    token: "not-known-yet",
    webhook: null,
    schedule: usualSchedule,
    exports: [],
    pdf: false,
    attachments: false,
  };
  return { file, choices, newToken: null };
}

interface TextChoice {
  readonly given: string | undefined;
  readonly message: string;
  readonly usual: string;
  readonly to: (answer: string) => Partial<ConfigChoices>;
}

async function choose(
  { context, prompts }: InitQuestions,
  draft: ConfigDraft,
  { given, message, usual, to }: TextChoice,
): Promise<ConfigDraft> {
  const changed = (answer: string) => ({ ...draft, choices: { ...draft.choices, ...to(answer) } });
  const problem = (answer: string) => problemOfDraft(context, changed(answer));
  const answer = given ?? (prompts ? await prompts.text({ message, usual, problem }) : usual);
  const wrong = problem(answer);
  if (wrong !== undefined) throw new MirrorError("usage", wrong);
  return changed(answer);
}

/** Asks for the token until the service takes it, and gives whose it is. */
async function askToken(
  questions: InitQuestions,
  draft: ConfigDraft,
): Promise<{ readonly draft: ConfigDraft; readonly serviceName: string }> {
  const { context, options, prompts } = questions;
  const isAsked = prompts !== null && options.tokenEnv === undefined && options.tokenFile === undefined;
  for (let left = mostTokens; ; left--) {
    const { token, newToken } = await takeToken(questions, draft.file);
    if (newToken !== null) context.keepSecret([newToken]);
    const known = { ...draft, newToken, choices: { ...draft.choices, token } };
    try {
      return { draft: known, serviceName: await readServiceName(context, known) };
    } catch (error) {
      const isRefused = error instanceof MirrorError && error.kind === "unauthenticated";
      if (!isAsked || !isRefused || left <= 1) throw error;
      context.log.error(error.message, hintOf(error));
    }
  }
}

type TokenPlace = Pick<ConfigChoices, "token"> & Pick<ConfigDraft, "newToken">;

async function takeToken({ context, options, prompts }: InitQuestions, file: string): Promise<TokenPlace> {
  const { tokenEnv, tokenFile } = options;
  if (tokenEnv !== undefined && tokenFile !== undefined)
    throw new MirrorError("usage", "the token is in --token-env or in --token-file, not both");
  if (tokenEnv !== undefined) return inEnvironment(tokenEnv);
  if (tokenFile !== undefined) {
    const place = path.resolve(context.cwd, tokenFile);
    const inFolder = path.relative(path.dirname(file), place);
    return { token: inFile(inFolder.startsWith("..") ? place : `./${inFolder}`), newToken: null };
  }
  if (prompts !== null) return askForToken(prompts);
  throw new MirrorError("usage", "whose company? a token is needed", {
    hint: "give --token-env NAME or --token-file FILE; at a terminal it is asked for",
  });
}

async function askForToken(prompts: Prompts): Promise<TokenPlace> {
  const place = await prompts.one("Where is the access token kept?", [
    { value: "file", label: "in a file that nobody else can read: it is asked for now" },
    { value: "environment", label: "in an environment variable" },
  ]);
  if (place === "environment")
    return inEnvironment(await prompts.text({ message: "Which variable?", usual: "FINTORO_TOKEN" }));
  const message = "The access token; reading is all it must be allowed";
  const newToken = await prompts.secret({ message, problem: problemOfToken });
  return { token: inFile(secretPlace(usualCompany, "token")), newToken };
}

function inEnvironment(name: string): TokenPlace {
  return { token: `\${env:${name}}`, newToken: null };
}

function inFile(place: string): string {
  return `\${file:${place}}`;
}

function problemOfToken(typed: string): string | undefined {
  return /^[\x21-\x7e]+$/.test(typed) ? undefined : "a token has no space and only ASCII characters";
}

/** Asks the service whose token it is, in one request. */
async function readServiceName(context: CommandContext, draft: ConfigDraft): Promise<string> {
  const { config } = loadDraft(context, draft);
  const { manifest } = context.connectors[0];
  const [company] = config.companies;
  if (!company) throw new MirrorError("config", "the config has no company");
  context.keepSecret([company.token.reveal()]);
  const connection = connectService(
    context,
    { manifest, config, company },
    { attempts: 2, budget: "memory" },
  );
  try {
    return await askWhoami(connection.transport, manifest, context.signal);
  } finally {
    await connection.close();
  }
}

async function askFiles({ options, prompts }: InitQuestions, draft: ConfigDraft): Promise<ConfigDraft> {
  const exports = listed("--exports", options.exports, formats);
  const files = listed("--files", options.files, fileKinds);
  const exportLabels = formats.map((value) => ({ value, label: value }));
  const fileLabels = [
    { value: "pdf", label: "PDFs of documents" },
    { value: "attachments", label: "attachments of CRM events" },
  ] as const;
  const chosen =
    exports ?? (await prompts?.some("Which files are made after every run?", exportLabels)) ?? [];
  const kept = files ?? (await prompts?.some("Which files of the service are kept, too?", fileLabels)) ?? [];
  const choices = { exports: chosen, pdf: kept.includes("pdf"), attachments: kept.includes("attachments") };
  return { ...draft, choices: { ...draft.choices, ...choices } };
}

/** The words of an option with commas between them; null: it was not given. */
function listed<T extends string>(
  option: string,
  given: string | undefined,
  known: readonly T[],
): T[] | null {
  if (given === undefined) return null;
  const words = given.split(",").map((word) => word.trim());
  return words
    .filter((word) => word !== "" && word !== "none")
    .map((word) => {
      const found = known.find((one) => one === word);
      if (found !== undefined) return found;
      throw new MirrorError("usage", `${option} takes ${known.join(", ")} or none${didYouMean(word, known)}`);
    });
}

/** `Žltý dom, s. r. o.` -> `zlty-dom`: what a config takes as a company's name. */
function fileNameOf(name: string): string {
  const words =
    name
      .normalize("NFD")
      .replace(/\p{M}/gu, "")
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  const text = words.join("-").replace(/-(?:s-r-o|a-s|k-s|ltd|inc|gmbh)$/, "");
  return text.slice(0, 40).replace(/-$/, "") || usualCompany;
}
