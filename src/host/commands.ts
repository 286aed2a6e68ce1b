import { rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import path from "node:path";
import { addAbortSignal } from "node:stream";
import { setImmediate as loopTurn } from "node:timers/promises";
import { abortAfter } from "../base/cancellation.ts";
import { isoTime } from "../base/clock.ts";
import { MirrorError, messageOf, valueOr } from "../base/errors.ts";
import { openFile } from "../base/files/atomic-file.ts";
import type { ProgressView } from "../log/progress.ts";
import type { RunRequest } from "../runs/company-run.ts";
import type { PruneReport } from "../state/retention/prune-mirror.ts";
import type { OpenCommand } from "../status/event-status.ts";
import { noReplay, type ReplayResult } from "../webhook/ingest/ingest.ts";
import type { OpenCompany } from "./host-context.ts";

/** What another process asks of the daemon that writes a mirror, as JSON in one line, with its own pid. */
type DaemonCommand =
  | { readonly kind: "sync"; readonly options: ReturnType<typeof formatSyncOptions> }
  | { readonly kind: "replay"; readonly options: { readonly ids: readonly string[] } }
  | { readonly kind: "prune"; readonly options: object };

/** @param untilMs when the run's time is over, begun or not, epoch milliseconds; null: never */
export function formatSyncOptions(request: RunRequest, untilMs: number | null) {
  const { closed: _, resources, ...flags } = request;
  return { ...flags, resources: resources.map(({ name }) => name), untilMs };
}

/** One line of the daemon: how far a command is, null before it begins; at last its report, or why there is none. */
type CommandLine =
  { readonly progress: ProgressView | null } | { readonly report: unknown } | { readonly error: string };

/** The daemon says something every second. */
const silentMs = 30_000;

/**
 * Gives a command to the daemon that listens at `file`, and its report. The daemon goes on with what it has begun; what
 * it has not is dropped. Throws MirrorError: `stopped` when `signal` aborts, `database` for what the daemon could not
 * do, `locked` where there is none, or the connection ends without an answer.
 */
export async function askDaemon(
  file: string,
  command: DaemonCommand,
  signal: AbortSignal,
  onProgress: (progress: ProgressView | null) => void = () => undefined,
): Promise<unknown> {
  const socket = atShortPath(file, (address) => connect({ path: address, signal }));
  socket.setTimeout(silentMs, () => socket.destroy());
  socket.write(`${JSON.stringify({ ...command, pid: process.pid })}\n`);
  const hint = "Nothing is lost: run it again.";
  try {
    for await (const line of linesFrom(socket)) {
      const said = JSON.parse(line) as CommandLine;
      if ("report" in said) return said.report;
      if ("error" in said)
        throw new MirrorError("database", `the daemon could not do it: ${said.error}`, { retryable: true });
      onProgress(said.progress);
    }
  } catch (error) {
    // Else the connection is lost.
    if (error instanceof MirrorError) throw error;
  }
  if (signal.aborted) throw new MirrorError("stopped", "stopped before the daemon answered", { hint });
  const lost = "the daemon ended, or hangs, and did not answer";
  throw new MirrorError("locked", lost, { hint, retryable: true });
}

/** Throws where the connection is lost, and destroys it when nobody reads on. */
async function* linesFrom(socket: Socket): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of socket.setEncoding("utf8")) {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

/** Addresses of sockets take about a hundred bytes. Where there is `/proc`, a longer way is shortened. */
function atShortPath<T>(file: string, use: (address: string) => T): T {
  if (process.platform !== "linux" || Buffer.byteLength(file) < 100) return use(file);
  using folder = openFile(path.dirname(file), "r");
  return use(`/proc/self/fd/${folder.fd}/${path.basename(file)}`);
}

interface OtherCommands {
  readonly replay: (eventIds: readonly string[], into: ReplayResult) => void;
  readonly prune: () => Promise<PruneReport>;
}

const sayEveryMs = 1_000;
const eventsAtOnce = 1_000;

/**
 * Takes commands of other processes until `closed`, on a socket beside the mirror, a connection each. Gives those that are
 * not answered, as they are from now on.
 *
 * Guarantee: an asker gets its answer, or sees the connection end. What has begun is done, whoever waits for it; what
 * nobody waits for any more does not begin.
 * Source of truth: this process's memory. The caller holds the writer lock.
 * Worst outcome of a crash: the askers see it, and do it themselves or ask the next writer.
 */
export function serveCommands(company: OpenCompany, others: OtherCommands): ReadonlySet<OpenCommand> {
  const { settings, closed, context } = company;
  const open = new Set<OpenCommand>();
  const server = createServer((socket) => {
    const answer = async () => {
      for await (const line of linesFrom(socket)) void answerCommand(company, others, open, socket, line);
    };
    addAbortSignal(closed, socket);
    // Who asked sees it, too, when a connection is lost.
    answer().catch(() => undefined);
  });
  server.on("error", (error) =>
    context.log.warn("other processes cannot ask this one for anything", { error: messageOf(error) }),
  );
  // Of a process that was killed: the lock is ours.
  rmSync(settings.files.socket, { force: true });
  atShortPath(settings.files.socket, (address) => server.listen({ path: address, signal: closed }));
  return open;
}

async function answerCommand(
  company: OpenCompany,
  others: OtherCommands,
  open: Set<OpenCommand>,
  socket: Socket,
  line: string,
): Promise<void> {
  const { clock, log } = company.context;
  const ended = new AbortController();
  const say = (said: CommandLine) => socket.writable && socket.write(`${JSON.stringify(said)}\n`);
  try {
    const command = JSON.parse(line) as DaemonCommand & { readonly pid: number };
    const { kind, pid } = command;
    log.info(`another process asks for a ${kind}`, { pid });
    const shown = { kind, pid, askedAt: isoTime(clock.nowMs()), state: "waiting" as OpenCommand["state"] };
    open.add(shown);
    ended.signal.addEventListener("abort", () => open.delete(shown));
    const request = command.kind === "sync" ? parseRequest(company, command.options) : null;
    const look = () => {
      // Where one fails, the next one is as good.
      const progress = valueOr(() => request && company.runQueue.progress(request), null);
      if (progress) shown.state = "running";
      return progress;
    };
    socket.on("close", () => look() === null && ended.abort());
    // Every second, so that a process that hangs is noticed.
    const sayProgress = async () => {
      for (; !ended.signal.aborted; await clock.sleep(sayEveryMs, ended.signal))
        if (socket.writableLength === 0) say({ progress: look() });
    };
    void sayProgress();
    // A report that is undefined is no answer, because this process ends.
    const report = request
      ? await sync(company, request, pid, () => !socket.destroyed)
      : command.kind === "replay"
        ? await replay(others, command.options.ids)
        : await others.prune().then((pruned) => (pruned.finished ? pruned : undefined));
    if (report !== undefined) say({ report });
  } catch (error) {
    log.error("a command of another process failed", { error: messageOf(error) });
    say({ error: messageOf(error) });
  } finally {
    ended.abort();
    socket.end();
  }
}

/** Throws for tables that only another version knows. */
function parseRequest(
  { context: { clock }, settings: { declaration }, closed }: OpenCompany,
  { resources: names, untilMs, ...flags }: ReturnType<typeof formatSyncOptions>,
): RunRequest {
  const resources = declaration.resources.filter(({ name }) => names.includes(name));
  if (resources.length === 0 || resources.length !== names.length)
    throw new Error("the command names tables that this daemon does not know");
  const over = untilMs === null ? closed : abortAfter(Math.max(0, untilMs - clock.nowMs()));
  return { ...flags, resources, closed: over };
}

async function sync(
  { closed, runQueue }: OpenCompany,
  request: RunRequest,
  pid: number,
  isWaitedFor: () => boolean,
) {
  const isNeeded = () => isWaitedFor() && !request.closed.aborted;
  const report = await runQueue.run(request, `asked for by process ${pid}`, isNeeded);
  const isWhole = report?.outcome === "complete" || report?.outcome === "partial";
  return report && (isWhole || !closed.aborted) ? report : undefined;
}

/** The daemon has other work between two portions. */
async function replay(others: OtherCommands, ids: readonly string[]): Promise<ReplayResult> {
  const all = noReplay();
  for (let from = 0; from < ids.length; from += eventsAtOnce) {
    others.replay(ids.slice(from, from + eventsAtOnce), all);
    await loopTurn();
  }
  return all;
}
