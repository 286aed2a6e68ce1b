import { codeOfError, codeOfEnding } from "./exit-code.ts";
import { failureOf } from "../console/failure-text.ts";
import { listenForSignals, type StopSignalNotice } from "./stop-signals.ts";
import { createOutput } from "../console/output.ts";
import { readCommandLine, type Request } from "./command-line.ts";
import { createConsole, earlyGlobals, printFailure, type Console } from "../console/console.ts";
import { createContext, type ProcessEnvironment } from "./process-environment.ts";

/** One run of the program, from its arguments to its exit code. */
export interface Invocation {
  /** Never throws. */
  run(): Promise<number>;
  /** For what nobody caught: tells it and gives the exit code. */
  fail(error: unknown): Promise<number>;
}

export function createInvocation(world: ProcessEnvironment): Invocation {
  const output = createOutput(world.stdout);
  let voice = createConsole(world, earlyGlobals(world.argv), output);
  const fail = async (error: unknown) => {
    voice.screen.close();
    await printFailure(voice, error);
    return codeOfError(error, null);
  };
  return {
    fail,
    async run() {
      try {
        const request = readCommandLine(world.argv, world.commands, world.version);
        if (request.kind === "run") {
          voice = createConsole(world, request.globals, output);
          return await perform(world, request, voice);
        }
        await output.line(request.text);
        return 0;
      } catch (error) {
        return await fail(error);
      }
    },
  };
}

async function perform(
  world: ProcessEnvironment,
  request: Request & { kind: "run" },
  voice: Console,
): Promise<number> {
  const tellSignal: StopSignalNotice = (signal) =>
    voice.log.info("stopping at the next safe point; once more to stop at once", { signal });
  const interruption = listenForSignals(world.signals, tellSignal, (code) => {
    voice.screen.close();
    world.endNow(code);
  });
  try {
    const context = createContext(world, request.globals, voice, interruption.signal);
    const ending = await request.command.run(context, request.input);
    return codeOfEnding(ending, interruption.heard);
  } catch (error) {
    if (stoppedByReader(error, voice) && !interruption.heard) return 0;
    voice.screen.close();
    await printFailure(voice, error);
    return codeOfError(error, interruption.heard);
  } finally {
    interruption.dispose();
  }
}

/** `changes --follow | head`: whoever read has read enough. */
function stoppedByReader(error: unknown, { output }: Console): boolean {
  return output.closed.aborted && failureOf(error).kind === "stopped";
}
