import { MirrorError } from "../../base/errors.ts";
import { isLoopbackUrl, readListen, type ListenAddress } from "../../config/address.ts";
import { chosenCompanies } from "../../config/companies.ts";
import type { Config } from "../../config/config.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { Daemon } from "../../daemon/daemon.ts";
import { createPages } from "../../status/render/pages.ts";
import { freshForMs } from "../../daemon/scheduler/freshness.ts";
import { parseCronSchedule, type CronSchedule } from "../../daemon/scheduler/cron-schedule.ts";
import { startServer, type Listener } from "../../webhook/server/server.ts";
import { createReceiver } from "../../webhook/server/receiver.ts";
import { selectResources } from "../mirror/selected-resources.ts";
import type { CommandContext } from "../program/command.ts";
import type { CommandRun } from "./command-table.ts";
import { followRun, followSchedule } from "../runs/after-run-process.ts";
import { reloading } from "../runs/reload.ts";

/** Answers on their way when a signal comes. */
const answerGraceMs = 3_000;
const dayMs = 86_400_000;

export const serveCommand: CommandRun<"serve"> = async (context, { options, loaded }) => {
  const config = servedConfig(context, loaded);
  const address = addressOf(options.listen) ?? config.serve;
  const served: Served = { daemon: null, reload: () => undefined, slots: slotsIn(config) };
  const stopReloading = context.onHangup(() => served.reload());
  const listener = await open(context, config, address, served);
  const daemon = new Daemon(daemonParts(context, loaded.path), config);
  served.daemon = daemon;
  const apply = (changed: Config) => {
    daemon.apply(changed);
    served.slots = slotsIn(changed);
  };
  served.reload = reloading(context, config, () => servedConfig(context, context.config()), { apply });
  try {
    await tellReady(context, config, address, listener);
    while (!context.signal.aborted) await context.clock.sleep(dayMs, context.signal);
  } finally {
    stopReloading();
    await listener.close(answerGraceMs);
    await daemon.stop();
  }
  context.log.info("stopped: everything committed is kept");
  return "drained";
};

/** The receiver is there before what it serves. */
interface Served {
  daemon: Daemon | null;
  reload: () => void;
  /** Of the config as it is now; null: no run by the clock. */
  slots: CronSchedule | null;
}

/** The config of the companies that are served. Refuses mistakes that only a daemon would notice. */
function servedConfig(context: CommandContext, { config }: LoadedConfig): Config {
  const { sync, publish, timezone } = config.schedule;
  for (const pattern of [sync, publish])
    if (pattern !== null && pattern !== "after_sync") parseCronSchedule(pattern, timezone);
  if (selectResources(context.connectors[0].manifest, config.resources, []).length === 0)
    throw new MirrorError("config", "no resource is left to mirror: see include and exclude");
  return { ...config, companies: chosenCompanies(config, context.globals.company) };
}

function slotsIn({ schedule: { sync, timezone } }: Config): CronSchedule | null {
  return sync === null ? null : parseCronSchedule(sync, timezone);
}

function addressOf(given: string | undefined): ListenAddress | null {
  if (given === undefined) return null;
  const reading = readListen(given);
  if ("value" in reading) return reading.value;
  throw new MirrorError("usage", `--listen must ${reading.must}`);
}

/** Before anything else: whoever delivers meanwhile is told to come again. */
function open(
  { log, clock, version }: CommandContext,
  config: Config,
  { host, port }: ListenAddress,
  served: Readonly<Served>,
): Promise<Listener> {
  if (!isLoopbackUrl(urlOf(host, port)))
    log.warn("listens beyond this machine, in plain HTTP: let only a proxy with TLS reach it", { host });
  const names = new Set(config.companies.map(({ name }) => name));
  const strays: Record<string, number> = {};
  const receiver = createReceiver({
    clock,
    log,
    mailbox: (name) => (served.daemon ? served.daemon.mailbox(name) : names.has(name) ? "closed" : null),
    onResult: (name, result) => {
      if (name === "") strays[result] = (strays[result] ?? 0) + 1;
      else served.daemon?.answered(name, result);
    },
    onStored: (name) => served.daemon?.stored(name),
  });
  return startServer({
    host,
    port,
    receiver,
    log,
    pages: createPages(() => served.daemon?.views() ?? [], clock, {
      version,
      strays: () => strays,
      limits: () => ({ freshForMs: freshForMs(served.slots, clock.nowMs()) }),
    }),
  });
}

function daemonParts(context: CommandContext, configPath: string) {
  const { clock, random, log, version, connectors } = context;
  const { manifest } = connectors[0];
  return {
    manifest,
    clock,
    random,
    log,
    version,
    afterRun: [followRun(context, configPath)],
    publish: followSchedule(context, configPath),
    onSecrets: context.keepSecret,
    resourcesOf: (config: Config) => selectResources(manifest, config.resources, []),
  };
}

async function tellReady(
  { output, globals }: CommandContext,
  config: Config,
  { host }: ListenAddress,
  { port }: Listener,
): Promise<void> {
  const url = urlOf(host, port);
  const companies = config.companies.map(({ name }) => name);
  if (globals.json) await output.json({ url, pid: process.pid, companies });
  else await output.line(`listening on ${url} for ${companies.join(", ")}`);
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
