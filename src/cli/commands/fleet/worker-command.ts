import { MirrorError } from "../../../base/errors.ts";
import { parseListen } from "../../../config/address.ts";
import { createNodePages } from "../../../fleet/worker/node-pages.ts";
import type { Companies } from "../../../webhook/receiver.ts";
import type { CommandContext } from "../../program/command.ts";
import type { CommandRun } from "../../program/command-table.ts";
import { listenUntilSignal, type ListeningProcess } from "../../program/listening-process.ts";
import { WorkerProcess } from "./worker-process.ts";

/** Runs one node of the fleet until a signal comes. */
export const workerCommand: CommandRun<"worker"> = async (context, { options, loaded: { config } }) => {
  const { role } = options;
  const { log } = context;
  if (context.globals.company !== undefined)
    throw new MirrorError("usage", "a worker holds any company of the fleet: --company chooses none", {
      hint: "`fleet add` and `fleet remove` decide which companies there are; `serve --company` holds chosen ones.",
    });
  const address = parseListen(options.listen) ?? config.serve;
  const worker = new WorkerProcess(context, config, role);
  try {
    await listenUntilSignal(context, {
      address,
      receives: role !== "work",
      server: servedBy(context, worker, address.host),
      onHangup: () => log.info("companies are read from Postgres by themselves"),
      start: () => worker.start(),
      announce: (url) => [
        { node: worker.name, role },
        [`node ${worker.name}: ${roleTexts[role]}, listening on ${url}`],
      ],
      stop: (answered) => Promise.all([answered, worker.stop()]),
    });
  } finally {
    worker.unlock();
  }
  log.info("stopped: everything that could be was published and released");
  return "drained";
};

const roleTexts = {
  all: "holds companies and answers deliveries",
  work: "holds companies",
  receive: "answers deliveries",
} as const;

/** Deliveries are refused as "send again" until the worker receives; a node that only works knows no company. */
function companiesOf(worker: WorkerProcess): Companies {
  return {
    find: (name) =>
      worker.receiver ? worker.receiver.find(name) : worker.role === "work" ? null : "unavailable",
    countAnswer: (name, result, refusal) => worker.receiver?.countAnswer(name, result, refusal),
  };
}

function servedBy(
  { version }: CommandContext,
  worker: WorkerProcess,
  host: string,
): ListeningProcess["server"] {
  const pages = createNodePages(version, worker);
  return { companies: companiesOf(worker), pages, pageHosts: () => [host], counts: worker.connections };
}
