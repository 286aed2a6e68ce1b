import { MirrorError } from "../../base/errors.ts";
import { isLocalAddress, parseListen, type ListenAddress } from "../../config/address.ts";
import { chosenCompanies, selectResources } from "../../config/companies.ts";
import type { Config } from "../../config/config.ts";
import { Daemon } from "../../host/daemon.ts";
import type { ConnectionCounts } from "../../server/connections.ts";
import { createPageAccess, currentPageToken, servedPageToken } from "../../status/page/page-access.ts";
import { createStatusSite } from "../../status/page/status-site.ts";
import { createPages } from "../../status/render/pages.ts";
import { failureOf } from "../console/console.ts";
import type { CommandContext } from "../program/command.ts";
import { hostProcess } from "../runs/host-process.ts";
import type { CommandRun } from "../program/command-table.ts";
import { listenUntilSignal, preparePages, type ListeningProcess } from "../program/listening-process.ts";

export const serveCommand: CommandRun<"serve"> = async (context, { options, config: first }) => {
  const address = parseListen(options.listen) ?? first.serve;
  const { dataDir } = first;
  const config = servedConfig(context, first, address, dataDir);
  const counts: ConnectionCounts = { dropped: 0 };
  const { declaration } = context.connector;
  const daemon = new Daemon({ ...hostProcess(context, counts), declaration }, config);
  const load = () => servedConfig(context, context.config().config, address, dataDir);
  const apply = (next: Config) => {
    daemon.apply(next);
    preparePages(context, next.serve.pageToken);
  };
  await listenUntilSignal(context, {
    address,
    receives: true,
    server: servedBy(context, daemon, address, counts),
    pageToken: config.serve.pageToken,
    onHangup: createReload(context, config, load, apply),
    start: async () => daemon.start(),
    announce: (url) => {
      const companies = config.companies.map(({ name }) => name);
      return [{ companies }, [`listening on ${url} for ${companies.join(", ")}`]];
    },
    // Its answers need the mirrors.
    stop: (answered) => answered.then(() => daemon.stop()),
  });
  context.log.info("stopped: everything committed is kept");
  return "drained";
};

/** The config of the companies that are served. Throws MirrorError `config` for what only a daemon cannot use. */
function servedConfig(context: CommandContext, config: Config, address: ListenAddress, dataDir: string) {
  if (selectResources(context.connector.declaration, config.resources).length === 0)
    throw new MirrorError("config", "no resource is left to mirror: see include and exclude");
  const pageToken = servedPageToken({ ...config, dataDir }, isLocalAddress(address));
  const serve = { ...config.serve, pageToken };
  return { ...config, serve, companies: chosenCompanies(config, context.globals.company) };
}

function servedBy(
  { log, clock, version }: CommandContext,
  daemon: Daemon,
  address: ListenAddress,
  counts: ConnectionCounts,
): ListeningProcess["server"] {
  const token = () => daemon.config.serve.pageToken && currentPageToken(daemon.config.serve.pageToken);
  const pages = createPages(daemon, counts, clock, version);
  const access = createPageAccess({ clock, log, isLocal: isLocalAddress(address), token });
  const site = createStatusSite(version, access, clock, daemon);
  return { companies: daemon, pages, site, pageHosts: () => [address.host, ...daemon.pageHosts], counts };
}

/**
 * Creates what SIGHUP does: reads the config again and applies it. A bad config is logged and
 * changes nothing; so does a change of a key that needs a restart.
 */
export function createReload(
  { log }: Pick<CommandContext, "log">,
  current: Config,
  load: () => Config,
  apply: (next: Config) => void,
): () => void {
  return () => {
    try {
      const loaded = load();
      const { dataDir } = current;
      const { host, port } = current.serve;
      const isMoved = loaded.serve.host !== host || loaded.serve.port !== port;
      if (isMoved) log.warn("serve.listen was changed: that needs a restart");
      if (loaded.dataDir !== dataDir) log.warn("data_dir was changed: that needs a restart");
      current = { ...loaded, serve: { ...loaded.serve, host, port }, dataDir };
      apply(current);
      log.info("the config was read again", { companies: current.companies.map(({ name }) => name) });
    } catch (error) {
      const { message, hint } = failureOf(error);
      log.error(`the config is kept as it was: ${message}`, { hint: hint ?? undefined });
    }
  };
}
