import { existsSync } from "node:fs";
import { firstThrown, messageOf, MirrorError } from "../../base/errors.ts";
import type { Config } from "../../config/config.ts";
import { recordStep, type StepResult } from "../../status/after-run-record.ts";
import type { Shard } from "../../status/shards.ts";
import { outcomeOfError } from "../../sync/context/run-summary.ts";
import { failureOf } from "../console/console.ts";
import { companyScopes, type CompanyScope } from "../mirror/company-scope.ts";
import type { CommandContext } from "../program/command.ts";
import { worstOutcome, type CommandOutcome } from "../program/exit-code.ts";

export interface CompanyResult {
  readonly document: object;
  readonly lines: readonly string[];
  /** @default "complete" */
  readonly outcome?: CommandOutcome;
  /** It was made before, and nothing has changed since. @default false */
  readonly isUnchanged?: boolean;
  /** Position of the change log up to which it shows the mirror. @default null */
  readonly seq?: number | null;
}

interface TogetherOptions {
  /** What the document says of a company that fails, besides the error. @default { outcome: "failed" } */
  readonly failed?: object;
  /** Each company's result stands for itself: some that fail make a partial outcome. @default false */
  readonly isPartial?: boolean;
  /** What follows when all were done, with the names of those that did not fail; a part of the document. Null: nothing. */
  readonly finish?: (done: readonly string[]) => Promise<Omit<CompanyResult, "isUnchanged" | "seq"> | null>;
  /** It answers a question: a quiet command prints it, too. @default false */
  readonly isAnswer?: boolean;
  readonly shard?: Shard | undefined;
}

/**
 * Does `work` for each chosen company; prints its lines, or one document with `--json`. A company that fails is logged
 * and does not keep the others from their results. A quiet command prints those only that are not complete: cron mails
 * whatever is printed.
 *
 * @throws the error of a single company, a usage error, and what follows a signal
 */
export async function forEachCompany(
  context: CommandContext,
  config: Config,
  work: (scope: CompanyScope) => Promise<CompanyResult>,
  { failed = { outcome: "failed" }, isPartial, finish, isAnswer, shard }: TogetherOptions = {},
): Promise<CommandOutcome> {
  const { globals, output, log, signal } = context;
  const scopes = companyScopes(context, config, shard);
  const companies: Record<string, object> = {};
  const outcomes: CommandOutcome[] = [];
  const done: string[] = [];
  const print = async (lines: readonly string[], outcome: CommandOutcome = "complete") => {
    const isLeftOut = globals.json || (globals.quiet && !isAnswer && outcome === "complete");
    for (const line of isLeftOut ? [] : lines) await output.line(line);
  };
  for (const scope of scopes) {
    const { name } = scope.company;
    try {
      const { document, lines, outcome = "complete" } = await work(scope);
      companies[name] = document;
      outcomes.push(outcome);
      done.push(name);
      await print(lines, outcome);
    } catch (thrown) {
      const error = firstThrown(thrown);
      const failure = failureOf(error);
      if (scopes.length === 1 || signal.aborted || failure.kind === "usage") throw error;
      // A missing secret is the fault of its company alone, as it is for `sync`.
      outcomes.push(failure.kind === "config" ? "partial" : outcomeOf(error));
      companies[name] = { ...failed, error: failure };
      log.error(`${name}: ${failure.message}`, { kind: failure.kind, hint: failure.hint ?? undefined });
    }
  }
  const last = await finish?.(done);
  if (last?.outcome) outcomes.push(last.outcome);
  if (globals.json) await output.json({ companies, ...last?.document });
  await print(last?.lines ?? [], last?.outcome);
  const isSome = done.length > 0 && done.length < scopes.length;
  return isPartial && isSome ? "partial" : worstOutcome(outcomes);
}

/** What a command that fails for a company comes to. */
export function outcomeOf(error: unknown): CommandOutcome {
  return error instanceof MirrorError && error.kind !== "runtime" ? outcomeOfError(error) : "database";
}

/**
 * Does one thing that follows runs, and records how it went for `status`. What was stopped, or is being made by another
 * process, is not recorded. Without a mirror there is nothing to make.
 */
export async function recorded<T extends CompanyResult>(
  { context: { clock, signal, log }, company, files }: CompanyScope,
  step: string,
  work: () => Promise<T>,
): Promise<T> {
  const startedMs = clock.nowMs();
  const record = (result: StepResult) => {
    try {
      if (existsSync(files.mirror)) recordStep(files.afterRun, step, result, startedMs, clock.nowMs());
    } catch (error) {
      // What was made is there, recorded or not.
      log.warn(`${company.name}: how it went cannot be recorded for status: ${messageOf(error)}`, { step });
    }
  };
  try {
    const result = await work();
    const { isUnchanged = false, seq = null } = result;
    record({ outcome: isUnchanged ? "unchanged" : "written", error: null, seq });
    return result;
  } catch (error) {
    const { kind, message } = failureOf(error);
    if (!signal.aborted && kind !== "locked" && kind !== "stopped")
      record({ outcome: "failed", error: message, seq: null });
    throw error;
  }
}
