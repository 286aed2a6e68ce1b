import { readFileSync } from "node:fs";
import path from "node:path";
import { MirrorError } from "../../base/errors.ts";
import { configText, type ConfigChoices } from "./config-text.ts";
import { loadConfig, type LoadedConfig } from "../../config/load.ts";
import type { CommandContext } from "../program/command.ts";

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
