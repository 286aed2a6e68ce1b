import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import type * as Library from "@clack/prompts";
import { MirrorError } from "../../base/errors.ts";

interface TextQuestion {
  readonly message: string;
  readonly usual?: string | undefined;
  /** What is wrong with an answer; undefined: nothing. */
  readonly problem?: ((answer: string) => string | undefined) | undefined;
}

interface Choice<T extends string> {
  readonly value: T;
  readonly label: string;
}

export type Prompts = ReturnType<typeof terminalPrompts>;

/**
 * Asks the person at the terminal. Each question throws MirrorError `stopped` when it is cancelled. The library is loaded
 * with the first of them.
 * @param interrupt called at Ctrl-C: while a question is open, the terminal sends no signal
 */
export function terminalPrompts(
  terminal: { readonly input: Readable; readonly output: Writable; readonly signal: AbortSignal },
  interrupt: () => void,
) {
  const { signal } = terminal;
  const ask = async <T>(question: (library: typeof Library) => Promise<T>): Promise<Exclude<T, symbol>> => {
    const library = await import("@clack/prompts");
    // Ctrl-D, the end of the input: otherwise the question would never be answered.
    library.updateSettings({ aliases: { "\u0004": "cancel" } });
    const answer = await question(library);
    if (typeof answer !== "symbol") return answer as Exclude<T, symbol>;
    const aborted = signal.aborted ? null : once(signal, "abort");
    interrupt();
    await aborted;
    throw new MirrorError("stopped", "stopped before an answer was given");
  };
  return {
    text: ({ message, usual = "", problem }: TextQuestion) => {
      const validate = (typed = "") => problem?.(typed || usual);
      const shown = { message, placeholder: usual, defaultValue: usual, validate };
      return ask(({ text }) => text({ ...terminal, ...shown }));
    },
    /** Shows nothing of what is typed. */
    secret: ({ message, problem }: TextQuestion) =>
      ask(({ password }) => password({ ...terminal, message, validate: (typed = "") => problem?.(typed) })),
    // What is chosen is one of the values that were given.
    one: async <T extends string>(message: string, choices: readonly Choice<T>[]) => {
      const options: Choice<string>[] = [...choices];
      return (await ask(({ select }) => select({ ...terminal, message, options }))) as T;
    },
    /** None of them is an answer, too. */
    some: async <T extends string>(message: string, choices: readonly Choice<T>[]): Promise<readonly T[]> => {
      const asked = { message, options: [...choices] as Choice<string>[], required: false };
      return (await ask(({ multiselect }) => multiselect({ ...terminal, ...asked }))) as T[];
    },
    /** An empty answer means no. */
    confirm: (message: string) =>
      ask(({ confirm }) => confirm({ ...terminal, message, initialValue: false })),
  };
}
