import { once } from "node:events";
import { systemRandom } from "../../../src/base/random.ts";
import { freePort } from "../../../src/cli/commands/demo.ts";
import { outputOf, spawnProgram, type Start } from "./process-env.ts";
import { eventually } from "../eventually.ts";

const probe = new URL("process-probe.ts", import.meta.url).href;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export type Process = ReturnType<typeof startProcess>;

/** The program as a process of its own with these arguments, without a test around it. */
export function startProcess(
  args: readonly string[],
  { folder: cwd, ...start }: Omit<Start, "cwd"> & { readonly folder: string },
) {
  const child = spawnProgram(args, { cwd, ...start });
  const written = outputOf(child);
  const ended: Promise<Exit> = once(child, "close").then(([code, signal]) => ({ code, signal }));
  return { child, stdout: () => written.stdout, stderr: () => written.stderr, ended };
}

/** `serve` on this port, once it says that it listens; a port that its last owner still holds is tried again. */
export function startServe(folder: string, port: number, mostMs?: number): Promise<Process> {
  return listening(startProcess(serveArgs(port), { folder, mostMs }));
}

/** As `startServe`, with the probe of `process-probe.ts` in it. */
export function startProbed(folder: string, port: number, mostMs: number): Promise<Process> {
  const nodeOptions = ["--expose-gc", "--import", probe];
  return listening(startProcess(serveArgs(port), { folder, mostMs, nodeOptions, channel: true }));
}

function serveArgs(port: number): string[] {
  return ["serve", "--json", "--listen", `127.0.0.1:${port}`];
}

async function listening(daemon: Process): Promise<Process> {
  let over = false;
  void daemon.ended.then(() => (over = true));
  await eventually(() => over || daemon.stdout().includes("\n"), "an address of serve");
  if (over) throw new Error(`serve does not listen: ${daemon.stderr()}`);
  return daemon;
}

export async function endServe(daemon: Process, signal: NodeJS.Signals): Promise<Exit> {
  daemon.child.kill(signal);
  return daemon.ended;
}

export const portToKeep = () => freePort(systemRandom);
