import type { ProgressView } from "../../../log/progress-view.ts";
import type { InboxRow } from "../../../state/inbox/inbox-view.ts";
import type { RunRow } from "../../../state/runs.ts";
import type { CompanyStatus, CompanyStatusView } from "../../company-status.ts";
import type { ReadyLimits } from "../../conditions.ts";
import type { StatusQuestion } from "../../read-status.ts";
import type { ChangeLine } from "./changes/change-line.ts";
import type { Moment } from "../markup/moments.ts";

/** One company as the daemon gives it to its page. */
export interface PageCompany {
  /** What `status` asks of its files. */
  readonly question: Omit<StatusQuestion, "db" | "maxAgeMs" | "nowMs">;
  view(): CompanyStatusView;
  /** The run under way; null: none. */
  progress(): ProgressView | null;
}

/** All that a company's page shows. `status` is what `status --json` prints, `view` what /readyz says. */
export interface CompanyPageFacts {
  readonly company: string;
  readonly moment: Moment;
  readonly limits: ReadyLimits;
  readonly view: CompanyStatusView;
  readonly status: CompanyStatus;
  readonly progress: ProgressView | null;
  /** The latest first. */
  readonly runs: readonly RunRow[];
  readonly events: readonly InboxRow[];
  readonly changes: readonly ChangeLine[];
  /** Why the mirror's file cannot be read; null: it can. */
  readonly unreadable: string | null;
}
