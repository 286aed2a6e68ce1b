import { MirrorError } from "../../base/errors.ts";
import type { Config } from "../../config/config.ts";
import { failureOf } from "../console/failure-text.ts";
import { companyScopes, type CompanyScope } from "../mirror/company-scope.ts";
import type { CommandContext } from "../program/command.ts";
import { worstOutcome, type Outcome } from "../program/exit-code.ts";

/** What a command did for one company. */
export interface CompanyResult {
  /** For `--json`. */
  readonly document: object;
  readonly lines: readonly string[];
  /** @default "complete" */
  readonly outcome?: Outcome;
}

/** How a command treats its companies together. */
export interface TogetherOptions {
  /** What the document says of a company that fails, besides the error. @default { outcome: "failed" } */
  readonly failed?: object;
  /** Each company's result stands for itself: some that fail make a partial outcome. @default false */
  readonly isPartial?: boolean;
  /** What follows when all were done, with the names of those that did not fail; a part of the document. */
  readonly finish?: (done: readonly string[]) => Promise<Pick<CompanyResult, "document" | "lines">>;
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
  { failed = { outcome: "failed" }, isPartial = false, finish }: TogetherOptions = {},
): Promise<Outcome> {
  const { globals, output, log, signal } = context;
  const scopes = companyScopes(context, config);
  const companies: Record<string, object> = {};
  const outcomes: Outcome[] = [];
  const done: string[] = [];
  const print = async (lines: readonly string[]) => {
    if (!globals.json) for (const line of lines) await output.line(line);
  };
  for (const scope of scopes) {
    const { name } = scope.company;
    try {
      const { document, lines, outcome = "complete" } = await work(scope);
      companies[name] = document;
      outcomes.push(outcome);
      done.push(name);
      await print(outcome === "complete" && globals.quiet ? [] : lines);
    } catch (error) {
      const isUsage = error instanceof MirrorError && error.kind === "usage";
      if (scopes.length === 1 || signal.aborted || isUsage) throw error;
      outcomes.push(outcomeOf(error));
      const failure = failureOf(error);
      companies[name] = { ...failed, error: failure };
      log.error(`${name}: ${failure.message}`, { kind: failure.kind, hint: failure.hint ?? undefined });
    }
  }
  const last = done.length > 0 ? await finish?.(done) : undefined;
  if (globals.json) await output.json({ companies, ...last?.document });
  else await print(globals.quiet ? [] : (last?.lines ?? []));
  const isSome = done.length > 0 && done.length < scopes.length;
  return isPartial && isSome ? "partial" : worstOutcome(outcomes);
}

const ownOutcomes = ["unauthenticated", "identity", "database", "locked"] as const;

/** What a command that fails for a company comes to. */
export function outcomeOf(error: unknown): Outcome {
  if (!(error instanceof MirrorError)) return "database";
  return ownOutcomes.find((one) => one === error.kind) ?? "failed";
}
