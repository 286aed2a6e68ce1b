import { MirrorError } from "../../base/errors.ts";
import { onNextTurn, retryWhileBusy } from "../../store/transient-errors.ts";
import { applyCounted, type RunContext, type WaitingAnswer } from "./run-context.ts";

/**
 * Applies answers that came in the same turn of the event loop in one transaction: one commit costs about as much as
 * applying an answer.
 *
 * Guarantee: when the promise resolves, all that the answer means is committed (I1). What one step throws rolls back
 * that step only, and rejects its promise only. An error of the database rejects them all; while another program holds
 * it, they are tried again.
 * Source of truth: the work queue; work items stay leased until then.
 * Worst outcome of a crash: the answers of one turn are read again.
 */
export function applyTogether(run: RunContext, step: () => void): Promise<void> {
  return retryWhileBusy(run.mirror.db, () => applyInTurn(run, step), run);
}

function applyInTurn(run: RunContext, step: () => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  if (run.answers.push({ step, resolve, reject }) === 1) onNextTurn(run.mirror.db, () => commitAnswers(run));
  return promise;
}

function commitAnswers(run: RunContext): void {
  const answers = run.answers.splice(0);
  const failures = new Map<WaitingAnswer, unknown>();
  const applyAll = () => {
    for (const answer of answers) {
      const failure = applyOne(run, answer);
      if (failure) failures.set(answer, failure.error);
    }
  };
  try {
    // One alone needs no other transaction than its own.
    if (answers.length === 1) applyAll();
    else applyCounted(run, applyAll);
  } catch (error) {
    for (const answer of answers) answer.reject(error);
    return;
  }
  for (const answer of answers) {
    if (failures.has(answer)) answer.reject(failures.get(answer));
    else answer.resolve();
  }
}

/** Returns what the step threw. Throws errors of the database: SQLite may have ended the transaction. */
function applyOne(run: RunContext, { step }: WaitingAnswer): { readonly error: unknown } | undefined {
  try {
    applyCounted(run, step);
    return undefined;
  } catch (error) {
    if (error instanceof MirrorError && error.kind === "database") throw error;
    return { error };
  }
}
