import type { ActivityLog, ActivityTarget } from "../../model/company-records.ts";
import { seededTarget } from "../../seed/activity-seed.ts";
import type { Company } from "../company-state.ts";

const kept = new WeakMap<Company, ReadonlyMap<string, readonly number[]>>();

/** Live events of one target, newest first. */
export function logsOf(company: Company, target: ActivityTarget): ActivityLog[] {
  const { contact_activity_logs: table } = company.tables;
  const seeded = seededIndex(company).get(keyOf(target)) ?? [];
  const written = [...table.writtenValues()].filter(
    (log) => !table.isSeeded(log.id) && keyOf(log.target) === keyOf(target),
  );
  const found = [...seeded.map((id) => table.get(id)), ...written].filter((log) => log !== undefined);
  return found.toSorted((a, b) => b.createdAtMs - a.createdAtMs || b.id - a.id);
}

function keyOf({ kind, id }: ActivityTarget): string {
  return `${kind}:${id}`;
}

/** A seeded event never changes its target, so this is made once. */
function seededIndex(company: Company): ReadonlyMap<string, readonly number[]> {
  const known = kept.get(company);
  if (known) return known;
  const index = new Map<string, number[]>();
  const { firstIds, volumes } = company.plan;
  for (let i = 0; i < volumes.contact_activity_logs; i++) {
    const id = firstIds.contact_activity_logs + i;
    const key = keyOf(seededTarget(company.books, id));
    const ids = index.get(key);
    if (ids) ids.push(id);
    else index.set(key, [id]);
  }
  kept.set(company, index);
  return index;
}

/** With its target, an event goes too; nobody is told of each. */
export function removeLogsOf(company: Company, target: ActivityTarget): void {
  for (const log of logsOf(company, target)) company.tables.contact_activity_logs.remove(log.id);
}
