import type { Config } from "../../config/config.ts";
import type { Daemon } from "../../daemon/daemon.ts";
import type { CommandContext } from "../program/command.ts";
import { failureOf } from "../console/failure-text.ts";

/**
 * What SIGHUP does: reads the config again. A bad one is told and changes nothing; what cannot change while
 * the daemon runs stays as it is, and that is told, too.
 */
export function reloading(
  { log }: Pick<CommandContext, "log">,
  first: Config,
  load: () => Config,
  daemon: Pick<Daemon, "apply">,
): () => void {
  let current = first;
  return () => {
    try {
      const loaded = load();
      for (const key of fixed(current, loaded)) log.warn(`${key} was changed: that needs a restart`);
      current = { ...loaded, serve: current.serve, dataDir: current.dataDir };
      daemon.apply(current);
      log.info("the config was read again", { companies: current.companies.map(({ name }) => name) });
    } catch (error) {
      const { message, hint } = failureOf(error);
      log.error(`the config is kept as it was: ${message}`, { hint: hint ?? undefined });
    }
  };
}

/** Keys that only a restart changes. */
function fixed(before: Config, after: Config): string[] {
  const listens = before.serve.host !== after.serve.host || before.serve.port !== after.serve.port;
  return [...(listens ? ["serve.listen"] : []), ...(before.dataDir === after.dataDir ? [] : ["data_dir"])];
}
