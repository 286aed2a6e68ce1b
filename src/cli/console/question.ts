import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { MirrorError } from "../../base/errors.ts";

/** One line from whoever sits there; empty when they end the input. The question goes beside the data. */
export async function askForLine(
  streams: { readonly input: Readable; readonly output: Writable },
  question: string,
  signal: AbortSignal,
): Promise<string> {
  const lines = createInterface({ input: streams.input, terminal: false });
  streams.output.write(question);
  try {
    const ended = once(lines, "close", { signal }).then(() => [""]);
    const [line] = (await Promise.race([once(lines, "line", { signal }), ended])) as [string];
    return line;
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new MirrorError("stopped", "stopped before an answer was given", { cause: error });
  } finally {
    lines.close();
  }
}
