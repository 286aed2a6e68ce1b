import { existsSync } from "node:fs";
import path from "node:path";
import { count, differences, falseTombstones, look, unreplayable } from "../../support/truth/compare.ts";
import { writeServeConfig } from "../../support/program/serve.ts";
import { localDamage } from "../../support/mirror/local-check.ts";
import { openCompany, sync, type Company } from "../../support/company/open-company.ts";
import { memoryScratch } from "../../support/memory-folder.ts";
import { truthOf } from "../../support/truth/truth.ts";
import { runToDie, type CrashScenario } from "./crash-scenario.ts";

export function companyIn(company: Company, folder: string): Company {
  return { ...company, folder, file: path.join(folder, "acme.db") };
}

/** What a mirror shows wrong against itself and its change log, whether or not it is complete. */
export async function inconsistencies(company: Company): Promise<string[]> {
  if (!existsSync(company.file) || !hasChangeLog(company.file)) return [];
  const truth = truthOf(company.sandbox);
  return [
    ...unreplayable(company.file),
    ...falseTombstones(company.file, truth),
    ...(await localDamage(company)),
  ];
}

function hasChangeLog(file: string): boolean {
  const sql = "SELECT count(*) FROM sqlite_master WHERE name IN ('_changes', '_raw')";
  return count(file, sql) === 2;
}

/** What is not as the service has it, in these tables only where some are named. */
export function inequalities(company: Company, tables?: readonly string[]): string[] {
  return look(company.file, (db) => differences(db, truthOf(company.sandbox), tables));
}

/** So many requests may be in flight when a process dies, and are made again. */
const mostInFlight = 6;

/** What was asked more than once since so many requests, if it is more than was in flight. */
function repeatedSince({ proxy }: Company, from: number): string[] {
  const asked = proxy.asked.slice(from).flatMap(({ target }) => (target === "/whoami" ? [] : [target]));
  const repeated = asked.length - new Set(asked).size;
  return repeated > mostInFlight ? [`${repeated} requests were repeated`] : [];
}

/** What happens between two runs. With a client go its CRM events, with an invoice its payments. */
const changes = [
  "invoices.updated",
  "price-list-items.updated",
  "clients.updated",
  "invoices.paid",
  "business-cases.created",
  "contact-activity-logs.created",
  "suppliers.created",
  "clients.deleted",
  "suppliers.deleted",
  "invoices.deleted",
  "contact-activity-logs.deleted",
];

/**
 * A run of `sync` by the real program.
 *
 * @param kind `first`: into an empty folder; `changed`: over a mirror whose records were changed and deleted
 */
export async function syncScenario(kind: "first" | "changed"): Promise<CrashScenario> {
  const company = await openCompany({ records: 2 });
  const base = memoryScratch().path;
  if (kind === "changed") {
    await sync(companyIn(company, base));
    for (const event of changes) company.sandbox.control.trigger(event);
    company.sandbox.control.rename("Firma 2");
  }
  const args = ["sync", "--json", "--allow-mass-delete"];
  let from = 0;
  return {
    countsStatements: false,
    base,
    run: (attempt) => {
      from = company.proxy.asked.length;
      writeServeConfig(companyIn(company, attempt.folder));
      return runToDie(attempt, args);
    },
    afterCrash: ({ folder }) => inconsistencies(companyIn(company, folder)),
    finish: async (attempt) => {
      const here = companyIn(company, attempt.folder);
      const { outcome, troubles } = await sync(here, { allowMassDelete: true, parentsPerRun: "all" });
      const wrong = outcome === "complete" ? [] : [`${outcome}: ${JSON.stringify(troubles)}`];
      if (kind === "first") wrong.push(...repeatedSince(company, from));
      return [...wrong, ...inequalities(here), ...(await inconsistencies(here))];
    },
    close: () => company.close(),
  };
}
