import { rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { isoTime, type Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import type { ProgressView } from "../../log/progress-view.ts";
import type { OpenCommand } from "../../status/event-status.ts";
import { atShortPath, type CommandLine, type DaemonCommand } from "./ask-daemon.ts";

/** A command that is being done. */
export interface PerformedCommand {
  /** The answer; undefined: none, because this process ends. */
  readonly report: Promise<unknown>;
  /** Null: it has not begun. Never throws. */
  readonly progress: () => ProgressView | null;
}

export interface CommandServerParts {
  readonly file: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly closed: AbortSignal;
  /** Does a command; one that nobody waits for any more does not begin. */
  readonly perform: (command: DaemonCommand, isWaitedFor: () => boolean) => PerformedCommand;
}

type OpenedCommand = { -readonly [Key in keyof OpenCommand]: OpenCommand[Key] };

const sayEveryMs = 1_000;

/**
 * Takes commands of other processes until `closed`, on a socket beside the mirror, a connection each. Gives those that are
 * not answered, as they are from now on.
 *
 * Guarantee: an asker gets its answer, or sees the connection end. What has begun is done, whoever waits for it.
 * Source of truth: this process's memory. The caller holds the writer lock.
 * Worst outcome of a crash: the askers see it, and do it themselves or ask the next writer.
 */
export function serveCommands(parts: CommandServerParts): ReadonlySet<OpenCommand> {
  const { file, closed, log } = parts;
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
    log.warn("other processes cannot ask this one for anything", { error: messageOf(error) }),
  );
  // Of a process that was killed: the lock is ours.
  rmSync(file, { force: true });
  atShortPath(file, (path) => server.listen({ path, signal: closed }));
  closed.addEventListener("abort", () => sockets.forEach((socket) => socket.destroy()));
  return open;
}

async function answer(
  { clock, log, perform }: CommandServerParts,
  open: Set<OpenedCommand>,
  socket: Socket,
  text: string,
): Promise<void> {
  const ended = new AbortController();
  const say = (line: CommandLine) => socket.writable && socket.write(`${JSON.stringify(line)}\n`);
  // Every second, so that a process that hangs is noticed.
  const sayProgress = async (look: () => ProgressView | null) => {
    for (; !ended.signal.aborted; await clock.sleep(sayEveryMs, ended.signal)) {
      const progress = look();
      if (socket.writableLength === 0) say({ progress });
    }
  };
  try {
    const command = JSON.parse(text) as DaemonCommand;
    const { kind, pid } = command;
    log.info(`another process asks for a ${kind}`, { pid });
    const asked: OpenedCommand = { kind, pid, askedAt: isoTime(clock.nowMs()), state: "waiting" };
    open.add(asked);
    ended.signal.addEventListener("abort", () => open.delete(asked));
    const { report, progress } = perform(command, () => !socket.destroyed);
    const look = () => {
      const view = progress();
      if (view) asked.state = "running";
      return view;
    };
    socket.on("close", () => look() === null && ended.abort());
    void sayProgress(look);
    const answered = await report;
    if (answered !== undefined) say({ ended: "done", report: answered });
  } catch (error) {
    log.error("a command of another process failed", { error: messageOf(error) });
    say({ ended: "failed", error: messageOf(error) });
  } finally {
    ended.abort();
    socket.end();
  }
}
