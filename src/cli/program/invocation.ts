import { once } from "node:events";
import { MirrorError } from "../../base/errors.ts";
import type { Console } from "../console/console.ts";
import { createOutput } from "../console/output.ts";
import { readCommandLine, type CommandRequest } from "./command-line.ts";
import type { ProcessEnvironment } from "./command.ts";
import { codeOfEnding, codeOfError, listenForSignals, type StopSignal } from "./exit-code.ts";
import { letHeapGrow } from "./own-process.ts";
import { earlyGlobals, type Globals } from "./option-specs.ts";

/** For what is still open when a daemon has stopped. */
const drainedGraceMs = 500;

/**
 * One invocation of the program, from its arguments to its exit code. What it needs is imported when it needs it: help and version load no library but the
 * parser, and a command's code is loaded after its config was accepted.
 */
export function createInvocation(environment: ProcessEnvironment) {
  const { argv, commands, version } = environment;
  const output = createOutput(environment.stdout);
  let console: Promise<Console> | null = null;
  const openConsole = (globals: Globals) =>
    (console ??= import("../console/console.ts").then(({ createConsole }) =>
      createConsole(environment, globals, output),
    ));
  const fail = async (error: unknown, signal: StopSignal | null = null) => {
    const { printFailure } = await import("../console/console.ts");
    await printFailure(await openConsole(earlyGlobals(argv)), error);
    return codeOfError(error, signal);
  };
  return {
    /** Prints an error that nobody caught, and gives the exit code. */
    fail: (error: unknown) => fail(error),
    /** Never rejects. */
    async run(): Promise<number> {
      try {
        const request = readCommandLine(argv, commands, version, output.columns ?? undefined);
        let text: string;
        if (typeof request === "string") text = request;
        else if (request.command.name === "completion") {
          // Asked at each Tab: without config, console and connectors.
          const { answerCompletion } = await import("./completion.ts");
          text = await answerCompletion(environment, request.input.args);
        } else return await perform(environment, request, await openConsole(request.globals), fail);
        if (text !== "") await output.line(text);
        return 0;
      } catch (error) {
        return await fail(error);
      }
    },
  };
}

async function perform(
  environment: ProcessEnvironment,
  request: CommandRequest,
  console: Console,
  fail: (error: unknown, signal: StopSignal | null) => Promise<number>,
): Promise<number> {
  const { log, output, screen } = console;
  let pager: Awaited<ReturnType<typeof openPagerFor>> = null;
  const logSignal = (signal: StopSignal) =>
    log.info("stopping at the next safe point; once more to stop at once", { signal });
  const endNow = (code: number) => {
    screen.close();
    environment.endNow(code);
  };
  const isPaging = () => pager?.isOpen === true;
  const { signal, received, dispose } = listenForSignals(environment.signals, logSignal, endNow, isPaging);
  try {
    const { openContext } = await import("./command-context.ts");
    const { context, loaded } = await openContext(environment, request, console, signal);
    pager = await openPagerFor(environment, request);
    if (pager) output.through(pager);
    const run = await request.command.load();
    letHeapGrow(true);
    const ending = await run(context, { ...request.input, ...loaded } as never);
    const code = codeOfEnding(ending, received());
    // A child process or a connection that does not end must not keep a daemon that was stopped.
    if (ending === "drained") setTimeout(() => environment.endNow(code), drainedGraceMs).unref();
    return code;
  } catch (error) {
    const isStopped = error instanceof MirrorError && error.kind === "stopped";
    // Stdout was closed by a reader that had enough: `changes --follow | head`.
    if (isStopped && output.closed.aborted && !received()) return 0;
    return await fail(error, received());
  } finally {
    // The person who reads is waited for. Ctrl-C is the pager's meanwhile.
    if (pager) await Promise.race([pager.end(), once(signal, "abort")]);
    dispose();
  }
}

async function openPagerFor(
  { stdout, env }: ProcessEnvironment,
  { command, input, globals }: CommandRequest,
) {
  const { follow = false } = input.options as { readonly follow?: boolean };
  if (!globals.pager || stdout.isTTY !== true || !command.isPaged || follow) return null;
  const { openPager } = await import("../console/pager.ts");
  return openPager(stdout, env);
}
