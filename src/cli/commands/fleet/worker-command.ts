import { MirrorError } from "../../../base/errors.ts";
import { isLoopbackUrl, listenUrl, parseListen } from "../../../config/address.ts";
import { createNodePages } from "../../../fleet/worker/node-pages.ts";
import type { Companies } from "../../../webhook/receiver.ts";
import { startServer } from "../../../server/server.ts";
import { printResult } from "../../console/output.ts";
import type { CommandContext } from "../../program/command.ts";
import type { CommandRun } from "../../program/command-table.ts";
import { createSystemd } from "../../program/systemd.ts";
import { WorkerProcess } from "./worker-process.ts";

/** For responses on their way when a signal comes. */
const answerGraceMs = 3_000;
/** For everything that is ended after a signal. What hangs longer (Postgres, the store) ends with the process. */
const stopMs = 23_000;

/** Runs one node of the fleet until a signal comes. */
export const workerCommand: CommandRun<"worker"> = async (context, { options, loaded: { config } }) => {
  const { role } = options;
  const { signal, clock, log } = context;
  if (context.globals.company !== undefined)
    throw new MirrorError("usage", "a worker holds any company of the fleet: --company chooses none", {
      hint: "`fleet add` and `fleet remove` decide which companies there are; `serve --company` holds chosen ones.",
    });
  const address = parseListen(options.listen) ?? config.serve;
  const worker = new WorkerProcess(context, config, role);
  // The server answers before Postgres does: who looks after the process sees that it is alive, and not ready.
  const server = await listen(context, worker, address).catch((error: unknown) => {
    worker.unlock();
    throw error;
  });
  const stopIgnoring = context.onHangup(() => log.info("companies are read from Postgres by themselves"));
  const systemd = createSystemd(context);
  const signalled = untilAborted(signal);
  try {
    if (await startsBefore(signalled, worker, signal)) {
      const url = listenUrl(address.host, server.port);
      const line = `node ${worker.name}: ${roleTexts[role]}, listening on ${url}`;
      await printResult(context, { url, pid: process.pid, node: worker.name, role }, [line]);
      systemd.ready(signal);
      await signalled;
    }
  } finally {
    stopIgnoring();
    systemd.stopping();
    const ended = Promise.all([server.close(answerGraceMs), worker.stop()]).then(() => true);
    const over = new AbortController();
    const hasEnded = await Promise.race([ended, clock.sleep(stopMs, over.signal).then(() => false)]);
    over.abort();
    if (!hasEnded) log.warn("not everything could be ended in time: the rest ends with the process");
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

/** Keeps the process from nothing: a start that fails ends it. */
function untilAborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve(), { once: true });
  if (signal.aborted) resolve();
  return promise;
}

/** False: a signal came first, whatever the start waits for. Throws what keeps the worker from starting. */
async function startsBefore(
  signalled: Promise<void>,
  worker: WorkerProcess,
  signal: AbortSignal,
): Promise<boolean> {
  const started = worker.start().then(
    () => true,
    (error: unknown) => {
      if (signal.aborted) return false;
      throw error;
    },
  );
  return Promise.race([started, signalled.then(() => false)]);
}

/** Deliveries are refused as "send again" until the worker receives; a node that only works knows no company. */
function companiesOf(worker: WorkerProcess): Companies {
  return {
    find: (name) =>
      worker.receiver ? worker.receiver.find(name) : worker.role === "work" ? null : "unavailable",
    countAnswer: (name, result, refusal) => worker.receiver?.countAnswer(name, result, refusal),
  };
}

function listen(
  { log, clock, version }: CommandContext,
  worker: WorkerProcess,
  { host, port }: { readonly host: string; readonly port: number },
) {
  if (worker.role !== "work" && !isLoopbackUrl(listenUrl(host, port)))
    log.warn("listens beyond this machine, in plain HTTP: let only a proxy with TLS reach it", { host });
  const { connections } = worker;
  const view = {
    node: worker.name,
    role: worker.role,
    version,
    problem: () => worker.problem,
    fleetMetrics: () => worker.fleetMetrics(),
    worker: () => worker.node,
    receiver: () => worker.receiver,
    droppedConnections: () => connections.dropped,
  };
  const pages = createNodePages(view);
  const pageHosts = () => [host];
  const companies = companiesOf(worker);
  return startServer({ host, port, companies, clock, log, pages, pageHosts, counts: connections });
}
