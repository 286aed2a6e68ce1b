import { yieldToLoop } from "../base/cancellation.ts";

/** How far a publish is. */
export interface PublishStep {
  readonly table: string;
  /** Rows written so far, of all tables. */
  readonly rows: number;
}

/** What long work of a publish reports to, and is stopped by. */
export interface StepOptions {
  readonly signal: AbortSignal;
  readonly onStep: (step: PublishStep) => void;
}

/** Lets other work of this thread run. @throws MirrorError `stopped` */
export function pause({ signal }: StepOptions): Promise<void> {
  return yieldToLoop(signal, "publishing was interrupted; the earlier report is unchanged");
}
