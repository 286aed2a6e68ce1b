import { MirrorError } from "../../../base/errors.ts";
import type { Config } from "../../../config/config.ts";
import { removeMember } from "../../../fleet/config/members.ts";
import { CompaniesTable } from "../../../fleet/postgres/companies-table.ts";
import type { Postgres } from "../../../fleet/postgres/connection.ts";
import { OwnersTable } from "../../../fleet/postgres/owners-table.ts";
import { printResult } from "../../console/output.ts";
import type { CommandRun } from "../../program/command-table.ts";
import { fleetOf, knownMembers, namedCompanies, withEngine, withPostgres } from "./open-fleet.ts";

/** Takes companies out of the fleet. */
export const fleetRemoveCommand: CommandRun<"fleet remove"> = async (context, { args, loaded }) => {
  const names = namedCompanies(context, args);
  if (names.length === 0)
    throw new MirrorError("usage", "which companies?", {
      hint: "`fleet remove acme` takes one out; `fleet list` shows all.",
    });
  const owners = await withPostgres(context, loaded.config, async (postgres) => {
    await knownMembers(postgres, names);
    await withEngine(context, postgres, async (engine) => {
      const fleet = { companies: new CompaniesTable(postgres), engine };
      for (const name of names) await removeMember(fleet, name);
    });
    return ownersNow(postgres, names);
  });
  const documents = names.map((name) => {
    const released_by = owners.get(name) ?? null;
    return [name, { outcome: "removed", released_by, stays: whatStays(loaded.config, name) }] as const;
  });
  const lines = documents.flatMap(([name, { released_by, stays }]) => [
    `${name}: removed${released_by === null ? "" : `; ${released_by} publishes it once more and releases it`}`,
    ...stays.map((place) => `  stays: ${place}`),
  ]);
  await printResult(
    context,
    { companies: Object.fromEntries(documents) },
    context.globals.quiet ? [] : lines,
  );
  return "complete";
};

/** The nodes that hold these companies. */
async function ownersNow(postgres: Postgres, names: readonly string[]): Promise<Map<string, string>> {
  const owners = await new OwnersTable(postgres).ownersOf(names);
  return new Map(
    owners.flatMap(({ company, node, live }) => (live && node !== null ? [[company, node]] : [])),
  );
}

function below(place: string, key: string): string {
  return `${place.replace(/\/$/, "")}/${key}`;
}

/** Nothing but a person removes what was published; what Postgres has, it forgets (`forgetRemoved`). */
function whatStays(config: Config, name: string): string[] {
  const { snapshots, reports } = fleetOf(config);
  return [
    below(snapshots, `${name}/`),
    ...(reports === null
      ? []
      : [below(reports, `report/${name}.report.db`), below(reports, `parquet/*/company=${name}/`)]),
  ];
}
