import { formatFleetStatus } from "../../../fleet/status/format-fleet-status.ts";
import { fleetStatusOutcome, readFleetStatus } from "../../../fleet/status/read-fleet-status.ts";
import { printResult } from "../../console/output.ts";
import type { CommandRun } from "../../program/command-table.ts";
import type { CommandEnding } from "../../program/exit-code.ts";
import { knownMembers, namedCompanies, withPostgres } from "./open-fleet.ts";
import { MirrorError } from "../../../base/errors.ts";
import { unknownName } from "../../../base/names.ts";
import { NodesTable } from "../../../fleet/postgres/tables/nodes-table.ts";

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

/** Asks a node to release its companies. */
export const fleetDrainCommand: CommandRun<"fleet drain"> = (context, { args: [node = ""], loaded }) =>
  withPostgres<CommandEnding>(context, loaded.config, async (postgres) => {
    const nodes = new NodesTable(postgres);
    const known = await nodes.list();
    if (known.find((one) => one.node === node)?.role === "receive")
      throw new MirrorError("usage", `${node} only receives: it holds no company`, {
        hint: "Stop it: what was sent to it and not answered is sent again, to another receiver.",
      });
    if (!(await nodes.drain(node)))
      throw new MirrorError(
        "usage",
        unknownName(
          "node",
          node,
          known.map((one) => one.node),
        ),
        {
          hint: "`fleet status` shows all nodes.",
        },
      );
    const held = known.find((one) => one.node === node)?.held ?? 0;
    const count = held === 1 ? "its company" : `its ${held} companies`;
    const now = held === 0 ? "holds no company" : `releases ${count}`;
    const line = `${node}: ${now}, and takes no more until it is started again`;
    await printResult(context, { node, draining: true, held }, context.globals.quiet ? [] : [line]);
    return "complete";
  });
