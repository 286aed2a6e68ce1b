import { existsSync } from "node:fs";
import { messageOf } from "../../base/errors.ts";
import { recordStep, type StepResult } from "../../status/after-run-record.ts";
import { failureOf } from "../console/failure-text.ts";
import type { CompanyScope } from "../mirror/company-scope.ts";

/**
 * Does one thing that follows runs, and records how it went for `status`. What was stopped, or is being made by another
 * process, is not recorded.
 */
export async function recorded<T>(
  scope: CompanyScope,
  step: string,
  work: () => Promise<T>,
  resultOf: (result: T) => { readonly unchanged: boolean; readonly seq: number | null },
): Promise<T> {
  const { clock, signal } = scope.context;
  const startedMs = clock.nowMs();
  try {
    const result = await work();
    const { unchanged, seq } = resultOf(result);
    record(scope, step, startedMs, { outcome: unchanged ? "unchanged" : "written", error: null, seq });
    return result;
  } catch (error) {
    const { kind, message } = failureOf(error);
    if (!signal.aborted && kind !== "locked" && kind !== "stopped")
      record(scope, step, startedMs, { outcome: "failed", error: message, seq: null });
    throw error;
  }
}

/** Never throws: what was made is there, recorded or not. Without a mirror there is nothing to make. */
function record(
  { context, company, files }: CompanyScope,
  step: string,
  startedMs: number,
  result: StepResult,
) {
  try {
    const times = { startedMs, endedMs: context.clock.nowMs() };
    if (existsSync(files.mirror)) recordStep(files.afterRun, step, result, times);
  } catch (error) {
    context.log.warn(`${company.name}: how it went cannot be recorded for status: ${messageOf(error)}`, {
      step,
    });
  }
}
