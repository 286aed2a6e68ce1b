import { execFile } from "node:child_process";
import { once } from "node:events";
import { isLocalAddress, listenUrl, type ListenAddress } from "../../config/address.ts";
import { waitAtMost } from "../../base/cancellation.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import { makePageToken, type PageToken } from "../../status/page/page-access.ts";
import { stopDeadlines } from "../../runs/process-context.ts";
import { startServer, type ServerOptions, type WebhookServer } from "../../server/server.ts";
import type { CommandContext } from "./command.ts";

export interface ListeningProcess {
  readonly address: ListenAddress;
  /** Deliveries, not only pages. */
  readonly receives: boolean;
  readonly server: Omit<ServerOptions, "host" | "port" | "clock" | "log">;
  /** What the pages ask for when it begins. */
  readonly pageToken: PageToken | null;
  readonly onHangup: () => void;
  /** Resolves when it works. May wait for others; a signal ends that. */
  readonly start: () => Promise<void>;
  /** What is printed then: of the document, and the lines for people. */
  readonly announce: (url: string) => readonly [document: object, lines: readonly string[]];
  /** Ends everything. `answered`: no response is on its way any more. */
  readonly stop: (answered: Promise<void>) => Promise<unknown>;
}

/**
 * Listens, starts, and stops at a signal. The server answers before the rest is there: who looks after the process sees
 * that it is alive and not ready, and deliveries get 503 meanwhile and are sent again.
 */
export async function listenUntilSignal(context: CommandContext, listening: ListeningProcess): Promise<void> {
  const { signal, clock, log } = context;
  const { host, port } = listening.address;
  if (listening.receives && !isLocalAddress(listening.address))
    log.warn("listens beyond this machine, in plain HTTP: let only a proxy with TLS reach it", { host });
  context.signals.on("SIGHUP", listening.onHangup);
  let server: WebhookServer | null = null;
  const systemd = createSystemd(context);
  try {
    server = await startServer({ ...listening.server, host, port, clock, log });
    const signalled = signal.aborted ? null : once(signal, "abort");
    const started = listening.start().catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    // Whatever the start waits for.
    await Promise.race([started, signalled]);
    if (!signal.aborted) {
      const url = listenUrl(host, server.port);
      const [document, lines] = listening.announce(url);
      const file = preparePages(context, listening.pageToken);
      const way = `the status page at ${url}/ asks for the token in ${file}: \`cat ${file}\` shows it`;
      const named = file === null ? {} : { page_token_file: file };
      const facts = { url, pid: process.pid, ...document, ...named };
      await context.print(facts, [...lines, ...(file === null ? [] : [way])]);
      systemd.ready(signal);
      await signalled;
    }
  } finally {
    context.signals.off("SIGHUP", listening.onHangup);
    systemd.stopping();
    const answered = server?.close(stopDeadlines.answers) ?? Promise.resolve();
    let hasEnded = false;
    const ending = listening.stop(answered).then(() => (hasEnded = true));
    await waitAtMost(stopDeadlines.all, ending);
    if (!hasEnded) log.warn("not everything could be ended in time: the rest ends with the process");
  }
}

/** Makes the token of the pages where the config names none and one is needed. Gives its file; null: no such token. */
export function preparePages({ onSecrets, log }: CommandContext, pageToken: PageToken | null) {
  if (!pageToken?.isMade || pageToken.place.kind !== "file") return null;
  try {
    onSecrets([makePageToken(pageToken.place.path)]);
    return pageToken.place.path;
  } catch (error) {
    log.warn(`the status page is closed: no token can be made for it (${messageOf(error)})`, {
      hint: "Set serve.page_token in the config, and reload.",
    });
    return null;
  }
}

const programTimeoutMs = 5_000;

/**
 * Reports to systemd (`Type=notify`, `WatchdogSec`) that the daemon is ready, alive and stopping. Node has no Unix
 * datagrams, so systemd's own program sends them: the unit needs `NotifyAccess=all`. A process that stands still sends
 * none, and is restarted. NOTIFY_SOCKET and WATCHDOG_USEC of `env` are systemd's; without the first, nothing is sent.
 */
export function createSystemd({ env, clock, log }: Pick<CommandContext, "env" | "clock"> & { log: Log }) {
  let hasFailed = false;
  const send = (...states: readonly string[]) => {
    if (!env["NOTIFY_SOCKET"]) return;
    execFile("systemd-notify", states, { env, timeout: programTimeoutMs }, (error) => {
      if (error && !hasFailed) log.warn(`systemd-notify failed: ${error.message.trim()}`);
      hasFailed = error !== null;
    });
  };
  return {
    /** The receiver answers. From now on the watchdog hears of it until `signal` aborts. */
    ready: (signal: AbortSignal) => {
      send("READY=1", "STATUS=receiving");
      const everyMs = Number(env["WATCHDOG_USEC"] ?? 0) / 1000 / 3;
      if (everyMs > 0) void feedWatchdog(everyMs, signal);
    },
    stopping: () => send("STOPPING=1"),
  };

  async function feedWatchdog(everyMs: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      send("WATCHDOG=1");
      await clock.sleep(everyMs, signal);
    }
  }
}
