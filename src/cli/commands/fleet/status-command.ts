import { formatFleetStatus } from "../../../fleet/status/format-fleet-status.ts";
import { fleetStatusOutcome, readFleetStatus } from "../../../fleet/status/read-fleet-status.ts";
import { printResult } from "../../console/output.ts";
import type { CommandRun } from "../../program/command-table.ts";
import type { CommandEnding } from "../../program/exit-code.ts";
import { knownMembers, namedCompanies, withPostgres } from "./open-fleet.ts";

/** Prints how the fleet stands: nodes, companies, deliveries and jobs that wait, Postgres. */
export const fleetStatusCommand: CommandRun<"fleet status"> = (context, { options, loaded: { config } }) =>
  withPostgres<CommandEnding>(context, config, async (postgres) => {
    const wanted = namedCompanies(context, []);
    const only = wanted.length > 0 ? wanted : null;
    if (only) await knownMembers(postgres, only);
    const status = await readFleetStatus(postgres, options.maxAge ?? null, only);
    await printResult(context, status, formatFleetStatus(status));
    return fleetStatusOutcome(status);
  });
