import { closeSync, openSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import { MirrorError } from "../../base/errors.ts";
import type { ProgressView } from "../../log/progress.ts";
import type { RunRequest } from "../../runs/run-request.ts";
import type { OpenCommand } from "../../status/event-status.ts";

/** What another process asks of the daemon that writes a mirror. */
export interface DaemonCommand {
  /** A run, stored events to be evaluated again, or the removal of what is old. */
  readonly kind: OpenCommand["kind"];
  readonly options: unknown;
  /** Process that asks and waits for the answer. */
  readonly pid: number;
}

/** What a `sync` asks of the daemon. */
export type SyncOptions = Omit<RunRequest, "resources" | "closed"> & {
  /** Table names. */
  readonly resources: readonly string[];
  /** Epoch milliseconds when the run's time is over, begun or not; null: never. */
  readonly untilMs: number | null;
};

export function formatSyncOptions(request: RunRequest, untilMs: number | null): SyncOptions {
  const { closed: _, ...flags } = request;
  return { ...flags, resources: request.resources.map(({ name }) => name), untilMs };
}

/** The daemon's answers; `gone`: the connection ended without one; `absent`: there was none; `interrupted`: by us. */
type DaemonAnswer =
  | { readonly ended: "done"; readonly report: unknown }
  | { readonly ended: "failed"; readonly error: string }
  | { readonly ended: "gone" | "absent" | "interrupted" };

/** One line of the daemon: how far a command is, null before it begins; at last its answer. */
export type CommandLine = { readonly progress: ProgressView | null } | DaemonAnswer;

/** The daemon says something every second. */
const silentMs = 30_000;

/**
 * Gives a command to the daemon that listens at `file`, and waits until it is answered, the daemon ends or hangs, or
 * `signal` aborts. The daemon goes on with what it has begun; what it has not is dropped.
 */
export async function askDaemon(
  file: string,
  command: Pick<DaemonCommand, "kind" | "options">,
  signal: AbortSignal,
  onProgress: (progress: ProgressView | null) => void = () => undefined,
): Promise<DaemonAnswer> {
  let ended: "gone" | "absent" = "absent";
  let rest = "";
  const end = () => socket.destroy();
  const socket = atShortPath(file, (address) => connect(address));
  signal.addEventListener("abort", end);
  socket.setTimeout(silentMs, end);
  try {
    if (signal.aborted) end();
    socket.write(`${JSON.stringify({ ...command, pid: process.pid })}\n`);
    for await (const chunk of socket.setEncoding("utf8")) {
      const lines = (rest + String(chunk)).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const said = JSON.parse(line) as CommandLine;
        if ("ended" in said) return said;
        ended = "gone";
        onProgress(said.progress);
      }
    }
  } catch {
    // The connection is lost.
  } finally {
    signal.removeEventListener("abort", end);
    socket.destroy();
  }
  return { ended: signal.aborted ? "interrupted" : ended };
}

/** The report of an answer. Throws MirrorError `stopped`, `locked` or `database` where there is none. */
export function reportIn(answer: DaemonAnswer): unknown {
  if (answer.ended === "done") return answer.report;
  const hint = "Nothing is lost: run it again.";
  if (answer.ended === "interrupted")
    throw new MirrorError("stopped", "stopped before the daemon answered", { hint });
  if (answer.ended === "failed")
    throw new MirrorError("database", `the daemon could not do it: ${answer.error}`, { retryable: true });
  throw new MirrorError("locked", "the daemon ended, or hangs, and did not answer", {
    hint,
    retryable: true,
  });
}

/** Addresses of sockets take about a hundred bytes. Where there is `/proc`, a longer way is shortened. */
export function atShortPath<T>(file: string, use: (address: string) => T): T {
  if (process.platform !== "linux" || Buffer.byteLength(file) < 100) return use(file);
  const folder = openSync(path.dirname(file), "r");
  try {
    return use(`/proc/self/fd/${folder}/${path.basename(file)}`);
  } finally {
    closeSync(folder);
  }
}
