import { assert, MirrorError } from "../../../base/errors.ts";
import { unknownName } from "../../../base/names.ts";
import type { Config } from "../../../config/config.ts";
import { JobEngine } from "../../../fleet/jobs/job-engine.ts";
import { CompaniesTable } from "../../../fleet/postgres/tables/companies-table.ts";
import { openPostgres, type Postgres } from "../../../fleet/postgres/connection.ts";
import type { CommandContext } from "../../program/command.ts";

/** The section `fleet` of a config that was read for a command of the fleet. */
export function fleetOf({ fleet }: Config): NonNullable<Config["fleet"]> {
  assert(fleet, "a config for a command of the fleet has the section");
  return fleet;
}

/** The address of the fleet's Postgres. Throws MirrorError `config` where the secret is missing. */
export function postgresUrl(config: Config): string {
  const { secret } = fleetOf(config).postgres;
  if (secret.known) return secret.reveal();
  throw new MirrorError("config", secret.problem ?? "fleet.postgres is missing", {
    hint: "set it to postgres://user:password@host/database where the program starts, or put that alone into the file",
  });
}

/**
 * Does `work` with a connection to the fleet's Postgres.
 * @throws MirrorError `config` without the secret or the packages, `database` where Postgres cannot be used
 */
export async function withPostgres<T>(
  { log }: CommandContext,
  config: Config,
  work: (postgres: Postgres) => Promise<T>,
): Promise<T> {
  const options = { url: postgresUrl(config), node: "fintoro-mirror fleet", log, maxConnections: 2 };
  const postgres = await openPostgres(options);
  try {
    return await work(postgres);
  } finally {
    await postgres.close();
  }
}

/** Does `work` with the fleet's jobs, without taking any. */
export async function withEngine<T>(
  { log }: CommandContext,
  postgres: Postgres,
  work: (engine: JobEngine) => Promise<T>,
): Promise<T> {
  const engine = await JobEngine.start({ postgres, log, isWorker: false });
  try {
    return await work(engine);
  } finally {
    await engine.stop();
  }
}

/** Companies that a command names, by its arguments and by `--company`. */
export function namedCompanies({ globals }: CommandContext, args: readonly string[]): string[] {
  return [...new Set([...args, ...(globals.company?.split(",") ?? [])])];
}

/**
 * The names of the fleet's companies. Throws MirrorError `usage` for one of `wanted` that is not among them.
 *
 * @param withRemoved those that left the fleet are known, too
 */
export async function knownMembers(
  postgres: Postgres,
  wanted: readonly string[],
  withRemoved = false,
): Promise<string[]> {
  const { companies } = await new CompaniesTable(postgres).list();
  const known = companies.filter(({ removed }) => withRemoved || !removed).map(({ name }) => name);
  const unknown = wanted.find((name) => !known.includes(name));
  if (unknown === undefined) return known;
  throw new MirrorError("usage", unknownName("company", unknown, known, " in the fleet"), {
    hint: "`fleet list` shows all; `fleet add` takes one of the config.",
  });
}
