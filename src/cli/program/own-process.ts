import { spawn, type ChildProcess } from "node:child_process";
import { addAbortListener, once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";

/** Path of the program's entry file: `src/main.ts`, or in the built package `main.js` beside this code. */
export function ownEntry(): string {
  const source = new URL("../../main.ts", import.meta.url);
  return fileURLToPath(existsSync(source) ? source : new URL("./main.js", import.meta.url));
}

/** What a child makes is complete or not there, so it may be ended in the middle. */
const killAfterMs = 15_000;

/**
 * Runs this program with other arguments in a process of its own; its stderr is ours. Resolves to the exit code, or
 * null when a signal ended it; rejects when it cannot start.
 *
 * @param input its stdin: nobody else can read it
 * @param signal ends it: SIGTERM, and SIGKILL where that does not help
 */
export async function runOwn(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  input: string,
  signal: AbortSignal,
): Promise<number | null> {
  const command = ["--disable-sigusr1", ownEntry(), ...args];
  const child: ChildProcess = spawn(process.execPath, command, { env, stdio: ["pipe", "ignore", "inherit"] });
  const closed = once(child, "close") as Promise<[number | null]>;
  let killing: NodeJS.Timeout | undefined;
  using _ = addAbortListener(signal, () => {
    child.kill("SIGTERM");
    killing = setTimeout(() => child.kill("SIGKILL"), killAfterMs);
  });
  // It may end before it has read everything; where too many files are open it has no pipe.
  child.stdin?.on("error", () => undefined).end(input);
  const [code] = await closed.finally(() => clearTimeout(killing));
  return code;
}

/**
 * May V8 let the heap grow as it likes? It doubles the young generation to 32 MB while the program is loaded, lets the old
 * one grow to four times what is in use, and takes 5 MB in each of four threads that optimize code, for what is inlined.
 * To optimize the HTTP parser, a function of WebAssembly, takes 24 MB and brings no time: only one with a number that none
 * has is optimized. A run has little in use at a time: held, its peak is 40 MB lower. Several threads that collect a young
 * generation of 1 MB cost more than they bring.
 *
 * The flags are the process's, threads included. `bin/start.js` holds the heap while the program is loaded. A Node that
 * was not tried may not know them, and V8 writes an error for each.
 */
export function letHeapGrow(may: boolean): void {
  if (!/^2[24]\./.test(process.versions.node)) return;
  setFlagsFromString(`--semi-space-growth-factor=${may ? 2 : 1}`);
  setFlagsFromString(`--${may ? "" : "no-"}parallel-scavenge`);
  setFlagsFromString(`--heap-growing-percent=${may ? 0 : 30}`);
  setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${may ? 920 : 200}`);
  setFlagsFromString(`--wasm-tier-up-filter=${may ? -1 : 1_000_000}`);
}

/** Those that the code of `sync` imports. */
const modulesOfRun =
  "console dns dns/promises http http2 perf_hooks stream/web timers/promises tls zlib".split(" ");

/**
 * Loads the modules of Node that a run needs, before its code is loaded in a held heap. Node brings them along compiled for V8's
 * usual flags: with others each is compiled anew, which takes 25 ms.
 */
export function loadModulesOfRun(): void {
  letHeapGrow(true);
  for (const name of modulesOfRun) process.getBuiltinModule(`node:${name}`);
  letHeapGrow(false);
}
