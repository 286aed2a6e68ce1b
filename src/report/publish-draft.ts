import { yieldToLoop } from "../base/cancellation.ts";
import type { Db } from "../store/database.ts";
import type { Layout } from "./report-layout.ts";

/** How far a publish is. */
export interface PublishStep {
  readonly table: string;
  /** Rows written so far, of all tables. */
  readonly rows: number;
}

/** The report that is being written. */
export interface ReportDraft {
  /** Shows the snapshot; the new file is attached as `report`. */
  readonly db: Db;
  readonly layout: Layout;
  readonly signal: AbortSignal;
  readonly onStep: (step: PublishStep) => void;
}

/** Lets other work of this thread run. @throws MirrorError `stopped` */
export function pause({ signal }: Pick<ReportDraft, "signal">): Promise<void> {
  return yieldToLoop(signal, "publishing was interrupted; the earlier report is unchanged");
}
