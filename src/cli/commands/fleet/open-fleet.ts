import { MirrorError, assert, messageOf, throwIfAborted } from "../../../base/errors.ts";
import { assertKnown } from "../../../base/names.ts";
import type { Config } from "../../../config/config.ts";
import { CompaniesTable, type CompanyRow } from "../../../fleet/postgres/tables/companies-table.ts";
import { openPostgres, type Postgres } from "../../../fleet/postgres/connection.ts";
import type { CommandContext } from "../../program/command.ts";
import { backoffMs, retries } from "../../../retry/retry-limits.ts";
import { isPostgresAway } from "../../../fleet/postgres/postgres-error.ts";

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
  const postgres = await openPostgres(postgresUrl(config), "fintoro-mirror fleet", log, 2);
  try {
    return await work(postgres);
  } finally {
    await postgres.close();
  }
}

export function namedCompanies({ globals }: CommandContext, args: readonly string[]): string[] {
  return [...new Set([...args, ...(globals.company?.split(",") ?? [])])];
}

/**
 * The fleet's companies that a command is about: all, those `wanted`, those with a tag. Throws MirrorError `usage` for a
 * name or a tag that is not in the fleet.
 *
 * @param withRemoved those that left the fleet are known, too
 */
export async function chosenMembers(
  postgres: Postgres,
  wanted: readonly string[],
  tag?: string,
  withRemoved = false,
) {
  const { companies: all, asOfMs } = await new CompaniesTable(postgres).list();
  const known = all.filter(({ removed }) => withRemoved || !removed);
  const names = known.map(({ name }) => name);
  const howToAdd = "`fleet list` shows all; `fleet add` takes one of the config.";
  assertKnown("company", wanted, names, howToAdd, " in the fleet");
  const tags = [...new Set(known.flatMap((one) => one.tags))];
  const howToTag = "`fleet list` shows them; `fleet add` sets them.";
  assertKnown("tag", tag === undefined ? [] : [tag], tags, howToTag, " in the fleet");
  const isWanted = new Set(wanted.length > 0 ? wanted : names);
  const isChosen = (one: CompanyRow) =>
    isWanted.has(one.name) && (tag === undefined || one.tags.includes(tag));
  return { companies: known.filter(isChosen), asOfMs };
}

/** Null: the connector that a company's document without a name means. Throws MirrorError `config` for an unknown one. */
export async function loadConnector({ connectors }: CommandContext, name: string | null) {
  const entry = name === null ? connectors[0] : connectors.find((one) => one.name === name);
  if (entry) return entry.load();
  throw new MirrorError("config", `this version knows no connector ${name}`);
}

export interface PostgresWait extends Pick<CommandContext, "clock" | "log" | "signal"> {
  /** Called with each failure that is waited out; null: the wait is over. */
  readonly onProblem?: (problem: string | null) => void;
}

/** Between two lines of the log. With an attempt that hangs for 20 s no minute is silent. */
const silences = { baseMs: 5_000, maxMs: 30_000 };

/**
 * Makes a step that needs Postgres, and makes it again while Postgres is away. What no wait makes right (a wrong
 * password, no such database, tables of a newer version) fails at once.
 *
 * @throws MirrorError `stopped` when the signal has aborted; what the step threw last, after 10 minutes at most
 */
export async function waitForPostgres<T>(wait: PostgresWait, step: () => Promise<T>): Promise<T> {
  const { clock, log, signal, onProblem } = wait;
  const startedMs = clock.monotonicMs();
  let [lines, nextLineMs] = [0, 0];
  for (let failures = 0; ;) {
    throwIfAborted(signal, "stopped while waiting for Postgres");
    try {
      const result = await step();
      if (failures > 0)
        log.info("Postgres answers", { waited_ms: Math.round(clock.monotonicMs() - startedMs) });
      onProblem?.(null);
      return result;
    } catch (error) {
      const pauseMs = backoffMs(++failures, retries.postgres);
      const waitedMs = clock.monotonicMs() - startedMs;
      if (!isPostgresAway(error) || waitedMs + pauseMs > retries.postgres.longestMs) throw error;
      if (waitedMs >= nextLineMs) {
        nextLineMs = waitedMs + backoffMs(++lines, silences);
        const { message, hint } = error;
        const leftSeconds = Math.round((retries.postgres.longestMs - waitedMs) / 1_000);
        log.warn("waiting for Postgres", { error: message, hint, left_s: leftSeconds });
      }
      onProblem?.(messageOf(error));
      await clock.sleep(pauseMs, signal);
    }
  }
}
