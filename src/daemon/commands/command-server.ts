import { rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { setImmediate as loopTurn } from "node:timers/promises";
import { isoTime } from "../../base/clock.ts";
import { messageOf, MirrorError } from "../../base/errors.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import { notBegun, type RunRequest } from "../../runs/run-request.ts";
import type { ProcessContext } from "../../runs/process-context.ts";
import type { RunQueue } from "../../runs/run-queue.ts";
import type { PruneReport } from "../../state/retention/prune-mirror.ts";
import type { OpenCommand } from "../../status/event-status.ts";
import type { ReplayResult } from "../../webhook/ingest/ingest.ts";
import { atShortPath, type CommandLine, type DaemonCommand, type SyncOptions } from "./ask-daemon.ts";

export interface CommandServerParts {
  readonly file: string;
  readonly context: Pick<ProcessContext, "clock" | "log"> & { readonly manifest: Manifest };
  readonly closed: AbortSignal;
  readonly runQueue: Pick<RunQueue, "run" | "progress">;
  readonly replay: (eventIds: readonly string[]) => ReplayResult;
  readonly prune: () => Promise<PruneReport>;
}

type OpenedCommand = { -readonly [Key in keyof OpenCommand]: OpenCommand[Key] };

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
export function serveCommands(parts: CommandServerParts): ReadonlySet<OpenCommand> {
  const { file, closed, context } = parts;
  const open = new Set<OpenedCommand>();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    // Who asked sees it, too.
    socket.on("error", () => undefined);
    createInterface({ input: socket }).once("line", (text) => void answer(parts, open, socket, text));
  });
  server.on("error", (error) =>
    context.log.warn("other processes cannot ask this one for anything", { error: messageOf(error) }),
  );
  // Of a process that was killed: the lock is ours.
  rmSync(file, { force: true });
  atShortPath(file, (path) => server.listen({ path, signal: closed }));
  closed.addEventListener("abort", () => sockets.forEach((socket) => socket.destroy()));
  return open;
}

async function answer(
  parts: CommandServerParts,
  open: Set<OpenedCommand>,
  socket: Socket,
  text: string,
): Promise<void> {
  const { clock, log } = parts.context;
  const ended = new AbortController();
  const say = (line: CommandLine) => socket.writable && socket.write(`${JSON.stringify(line)}\n`);
  try {
    const command = JSON.parse(text) as DaemonCommand;
    const { kind, pid } = command;
    log.info(`another process asks for a ${kind}`, { pid });
    const shown: OpenedCommand = { kind, pid, askedAt: isoTime(clock.nowMs()), state: "waiting" };
    open.add(shown);
    ended.signal.addEventListener("abort", () => open.delete(shown));
    const request =
      kind === "sync" ? parseRequest(parts, command.options as SyncOptions, ended.signal) : null;
    const look = () => {
      try {
        const progress = request && parts.runQueue.progress(request);
        if (progress) shown.state = "running";
        return progress;
      } catch {
        // The next one is as good.
        return null;
      }
    };
    socket.on("close", () => look() === null && ended.abort());
    // Every second, so that a process that hangs is noticed.
    const sayProgress = async () => {
      for (; !ended.signal.aborted; await clock.sleep(sayEveryMs, ended.signal))
        if (socket.writableLength === 0) say({ progress: look() });
    };
    void sayProgress();
    const report = request
      ? await sync(parts, request, pid, () => !socket.destroyed)
      : await (kind === "replay" ? replay(parts, command.options) : prune(parts));
    if (report !== undefined) say({ ended: "done", report });
  } catch (error) {
    log.error("a command of another process failed", { error: messageOf(error) });
    say({ ended: "failed", error: messageOf(error) });
  } finally {
    ended.abort();
    socket.end();
  }
}

/** Throws MirrorError `usage` for tables that only another version knows. */
function parseRequest(
  { context: { clock, manifest }, closed }: CommandServerParts,
  { resources: names, untilMs, ...flags }: SyncOptions,
  ended: AbortSignal,
): RunRequest {
  const resources = manifest.resources.filter(({ name }) => names.includes(name));
  if (resources.length === 0 || resources.length !== names.length)
    throw new MirrorError("usage", "the command names tables that this daemon does not know", {
      hint: "Run the same version of fintoro-mirror as the daemon, or restart the daemon.",
    });
  const over = new AbortController();
  if (untilMs !== null)
    void clock
      .sleep(Math.max(0, untilMs - clock.nowMs()), AbortSignal.any([ended, closed]))
      .then(() => over.abort());
  return { ...flags, resources, closed: over.signal };
}

/** Undefined, here and below: no answer, because this process ends. */
async function sync(
  { context: { clock }, closed, runQueue }: CommandServerParts,
  request: RunRequest,
  pid: number,
  isWaitedFor: () => boolean,
) {
  const startedAt = isoTime(clock.nowMs());
  const report = await runQueue
    .run(request, `asked for by process ${pid}`, () => isWaitedFor() && !request.closed.aborted)
    .catch((error: unknown) => notBegun(clock, startedAt, error));
  const isWhole = report?.outcome === "complete" || report?.outcome === "partial";
  return report && (isWhole || !closed.aborted) ? report : undefined;
}

async function prune(parts: CommandServerParts): Promise<PruneReport | undefined> {
  const report = await parts.prune();
  return report.finished ? report : undefined;
}

/** The daemon has other work between two portions. */
async function replay(parts: CommandServerParts, options: unknown): Promise<ReplayResult> {
  const { ids } = options as { readonly ids: readonly string[] };
  const results: ReplayResult[] = [];
  for (let from = 0; from < ids.length; from += eventsAtOnce) {
    results.push(parts.replay(ids.slice(from, from + eventsAtOnce)));
    await loopTurn();
  }
  return {
    queued: results.reduce((sum, { queued }) => sum + queued, 0),
    unread: results.reduce((sum, { unread }) => sum + unread, 0),
    missing: results.flatMap(({ missing }) => missing),
    pruned: results.flatMap(({ pruned }) => pruned),
  };
}
