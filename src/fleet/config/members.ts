import { MirrorError } from "../../base/errors.ts";
import type { ScheduleConfig } from "../../config/config.ts";
import type { JobEngine } from "../jobs/job-engine.ts";
import type { CompaniesTable } from "../postgres/tables/companies-table.ts";
import type { CompanyDocument } from "./company-document.ts";

/** A company as it is to be shared. */
export interface NewMember {
  readonly name: string;
  readonly document: CompanyDocument;
  readonly schedule: Pick<ScheduleConfig, "sync" | "timezone">;
}

/**
 * Shares a company with all workers, or changes its config there, and has a worker look at it.
 *
 * Guarantee: a company of the fleet has the schedule of its config, since that is set first.
 * Source of truth: table `companies`.
 * Worst outcome of a crash: a company that is looked at by its schedule only. To add it again heals that.
 *
 * @throws MirrorError `config` for a pattern that cannot be scheduled, and `database`
 */
export async function addMember(
  companies: CompaniesTable,
  engine: Pick<JobEngine, "schedule" | "send">,
  { name, document, schedule: { sync, timezone } }: NewMember,
): Promise<"added" | "changed" | "unchanged"> {
  if (sync !== null) await engine.schedule(sync, timezone);
  const outcome = await companies.put(name, document, sync, timezone);
  if (outcome !== "unchanged") await engine.send("run", [name]);
  return outcome;
}

/**
 * Refuses names that differ only in case from those of the fleet: on some disks their mirrors are the same file.
 * @throws MirrorError `config`
 */
export function assertDistinct(names: readonly string[], present: readonly string[]): void {
  const known = new Map(present.map((name) => [name.toLowerCase(), name]));
  for (const name of names) {
    const twin = known.get(name.toLowerCase()) ?? name;
    if (twin !== name)
      throw new MirrorError("config", `the fleet has a company ${twin}: ${name} differs only in case`, {
        hint: "On some disks their mirrors would be the same file: choose another name.",
      });
  }
}
