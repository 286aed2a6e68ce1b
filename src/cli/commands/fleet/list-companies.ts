import { isoTime } from "../../../base/clock.ts";
import { formatDuration } from "../../../base/units.ts";
import { CompaniesTable, type CompanyRow } from "../../../fleet/postgres/tables/companies-table.ts";
import { OwnersTable, type OwnerRow } from "../../../fleet/postgres/tables/owners-table.ts";
import { readRemovedCompanies } from "../../../fleet/postgres/tables/removed-companies.ts";
import { printResult } from "../../console/output.ts";
import type { CommandRun } from "../../program/command-table.ts";
import type { CommandEnding } from "../../program/exit-code.ts";
import { knownMembers, namedCompanies, withPostgres } from "./open-fleet.ts";

/** A company of the fleet as `fleet list --json` prints it. */
interface Member {
  /** The node that has it now; null: none does. */
  readonly node: string | null;
  /** Of its last owner; null: it never had one. */
  readonly epoch: number | null;
  /** When it was added or its config changed last, ISO. */
  readonly changed_at: string;
  /** What `fleet add` stored; secrets are references. */
  readonly config: unknown;
}

/** Lists the companies of the fleet with those that left it lately, or those named by `--company`. */
export const fleetListCommand: CommandRun<"fleet list"> = (context, { loaded: { config } }) =>
  withPostgres<CommandEnding>(context, config, async (postgres) => {
    const wanted = namedCompanies(context, []);
    const names = await knownMembers(postgres, wanted);
    const { companies: rows, asOfMs } = await new CompaniesTable(postgres).list();
    const shown = rows.filter(({ name }) => (wanted.length > 0 ? wanted : names).includes(name));
    const owners = await new OwnersTable(postgres).ownersOf(shown.map(({ name }) => name));
    const members = shown.map((row) => [row.name, memberOf(row, owners)] as const);
    const width = Math.max(0, ...members.map(([name]) => name.length));
    const lines = members.map(([name, member]) => `${name.padEnd(width)}  ${memberText(member, asOfMs)}`);
    const removed = wanted.length > 0 ? [] : await readRemovedCompanies(postgres);
    if (members.length === 0) lines.push("the fleet has no companies; `fleet add` shares some");
    for (const { company, keptUntilMs } of removed)
      lines.push(`${company}: removed; comes back as it was if it is added until ${isoTime(keptUntilMs)}`);
    const removedOnes = removed.map(({ company, removedAtMs, keptUntilMs }) => {
      return [company, { removed_at: isoTime(removedAtMs), kept_until: isoTime(keptUntilMs) }] as const;
    });
    const companies = Object.fromEntries(members);
    await printResult(context, { companies, removed: Object.fromEntries(removedOnes) }, lines);
    return "complete";
  });

function memberOf({ name, config, changedAtMs }: CompanyRow, owners: readonly OwnerRow[]): Member {
  const owner = owners.find(({ company }) => company === name);
  const node = owner?.live ? owner.node : null;
  return { node, epoch: owner?.epoch ?? null, changed_at: isoTime(changedAtMs), config };
}

function memberText({ node, epoch, changed_at: changedAt }: Member, nowMs: number): string {
  const changed = `config of ${formatDuration(Math.max(0, nowMs - Date.parse(changedAt)))} ago`;
  const owned = node === null ? (epoch === null ? "not read yet" : "idle") : `at ${node}, epoch ${epoch}`;
  return `${owned}; ${changed}`;
}
