import { MirrorError } from "../../../base/errors.ts";
import { chosenCompanies } from "../../../config/companies.ts";
import type { ScheduleConfig } from "../../../config/config.ts";
import type { LoadedConfig } from "../../../config/load.ts";
import {
  companyDocument,
  type CompanyDocument,
  type DocumentOfFile,
} from "../../../fleet/config/company-document.ts";
import type { JobEngine } from "../../../fleet/jobs/job-engine.ts";
import { CompaniesTable } from "../../../fleet/postgres/tables/companies-table.ts";
import { migrateFleet } from "../../../fleet/postgres/schema.ts";
import { printResult } from "../../console/output.ts";
import type { CommandRun } from "../../program/command-table.ts";
import { knownMembers, namedCompanies, withEngine, withPostgres } from "./open-fleet.ts";

/** Shares companies of the config with all workers. Nothing is shared where one of them cannot be. */
export const fleetAddCommand: CommandRun<"fleet add"> = async (context, { args, options, loaded }) => {
  const { log, globals } = context;
  const names = chosenNames(loaded, namedCompanies(context, args), options.all);
  const documents = documentsOf(loaded, names);
  const leftOut = documents.values().next().value?.leftOut ?? [];
  for (const { key, reason } of leftOut) log.warn(`left out: ${key}: ${reason}`);
  const outcomes = await withPostgres(context, loaded.config, async (postgres) => {
    await migrateFleet(postgres);
    assertDistinct(names, await knownMembers(postgres, []));
    const { schedule } = loaded.config;
    return withEngine(context, postgres, async (engine) => {
      const companies = new CompaniesTable(postgres);
      const added = new Map<string, string>();
      const progress = () => [`${added.size} of ${names.length} companies are shared`];
      await context.showing(progress, async () => {
        for (const [name, { document }] of documents) {
          if (context.signal.aborted) throw stopped(progress()[0]);
          added.set(name, await share(companies, engine, name, document, schedule));
        }
      });
      return added;
    });
  });
  const companies = Object.fromEntries([...outcomes].map(([name, outcome]) => [name, { outcome }]));
  const lines = globals.quiet ? [] : [...outcomes].map(([name, outcome]) => `${name}: ${outcome}`);
  await printResult(context, { companies, left_out: leftOut }, lines);
  return "complete";
};

function stopped(progress = ""): MirrorError {
  const hint = "Run it again: what is shared stays, and the rest follows.";
  return new MirrorError("stopped", `stopped: ${progress}`, { hint });
}

function chosenNames({ config }: LoadedConfig, named: readonly string[], all: boolean): readonly string[] {
  if (all === named.length > 0)
    throw new MirrorError("usage", all ? "--all is every company: name none" : "which companies?", {
      hint: "`fleet add acme beta` shares these two, `fleet add --all` every company of the config.",
    });
  const chosen = chosenCompanies(config, all ? undefined : named.join(","));
  if (chosen.length > 0) return chosen.map(({ name }) => name);
  throw new MirrorError("config", "the config has no companies to share", {
    hint: "A worker's file may have none: use the one that names them under `companies`.",
  });
}

/** Throws MirrorError `config` with all that is wrong with any of them. */
function documentsOf(loaded: LoadedConfig, names: readonly string[]): Map<string, DocumentOfFile> {
  const documents = new Map<string, DocumentOfFile>();
  const problems = new Set<string>();
  let failure: MirrorError | null = null;
  for (const name of names) {
    try {
      documents.set(name, companyDocument(loaded, name));
    } catch (error) {
      if (!(error instanceof MirrorError)) throw error;
      failure = error;
      for (const line of error.message.split("\n")) problems.add(line);
    }
  }
  if (failure === null) return documents;
  const { hint = "" } = failure;
  throw new MirrorError("config", [...problems].join("\n"), { hint, cause: failure });
}

/**
 * Shares a company with all workers, or changes its config there, and has a worker look at it. Its schedule is set first:
 * a company of the fleet has it, wherever this ends, and to add it again heals the rest.
 *
 * @throws MirrorError `config` for a pattern that cannot be scheduled, and `database`
 */
async function share(
  companies: CompaniesTable,
  engine: JobEngine,
  name: string,
  document: CompanyDocument,
  { sync, timezone }: ScheduleConfig,
): Promise<string> {
  if (sync !== null) await engine.schedule(sync, timezone);
  const outcome = await companies.put(name, document, sync, timezone);
  if (outcome !== "unchanged") await engine.send("run", [name]);
  return outcome;
}

/**
 * Refuses names that differ only in case from those of the fleet: on some disks their mirrors are the same file.
 * @throws MirrorError `config`
 */
function assertDistinct(names: readonly string[], present: readonly string[]): void {
  const known = new Map(present.map((name) => [name.toLowerCase(), name]));
  for (const name of names) {
    const twin = known.get(name.toLowerCase()) ?? name;
    if (twin !== name)
      throw new MirrorError("config", `the fleet has a company ${twin}: ${name} differs only in case`, {
        hint: "On some disks their mirrors would be the same file: choose another name.",
      });
  }
}
