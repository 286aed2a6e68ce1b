import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { MirrorError } from "../../base/errors.ts";

export interface TextQuestion {
  readonly message: string;
  /** What an empty answer means. */
  readonly usual?: string | undefined;
  /** What is wrong with an answer; undefined: nothing. */
  readonly problem?: ((answer: string) => string | undefined) | undefined;
}

interface Choice<T extends string> {
  readonly value: T;
  readonly label: string;
}

/** Asks the person at the terminal. Each question throws MirrorError `stopped` when it is cancelled. */
export interface Prompts {
  text(question: TextQuestion): Promise<string>;
  /** Shows nothing of what is typed. */
  secret(question: TextQuestion): Promise<string>;
  one<T extends string>(message: string, choices: readonly Choice<T>[]): Promise<T>;
  /** None of them is an answer, too. */
  some<T extends string>(message: string, choices: readonly Choice<T>[]): Promise<readonly T[]>;
  /** An empty answer means no. */
  confirm(message: string): Promise<boolean>;
}

export interface PromptTerminal {
  readonly input: Readable;
  readonly output: Writable;
  /** Cancels the question that is open. */
  readonly signal: AbortSignal;
  /** Called at Ctrl-C: while a question is open, the terminal sends no signal. */
  readonly interrupt: () => void;
}

/** Questions on a real terminal. The library is loaded with the first of them. */
export function terminalPrompts({ interrupt, ...terminal }: PromptTerminal): Prompts {
  const { signal } = terminal;
  const answered = async <T>(answer: T): Promise<Exclude<T, symbol>> => {
    if (typeof answer !== "symbol") return answer as Exclude<T, symbol>;
    const aborted = signal.aborted ? null : once(signal, "abort");
    interrupt();
    await aborted;
    throw new MirrorError("stopped", "stopped before an answer was given");
  };
  return {
    text: async (question) => {
      const { text } = await loadLibrary();
      const { message, usual = "" } = question;
      const shown = { message, placeholder: usual, defaultValue: usual, validate: validationOf(question) };
      return answered(await text({ ...terminal, ...shown }));
    },
    secret: async (question) => {
      const { password } = await loadLibrary();
      const { message } = question;
      return answered(await password({ ...terminal, message, validate: validationOf(question) }));
    },
    // What is chosen is one of the values that were given.
    one: async <T extends string>(message: string, choices: readonly Choice<T>[]) => {
      const { select } = await loadLibrary();
      const options: { value: string; label: string }[] = [...choices];
      return (await answered(await select({ ...terminal, message, options }))) as T;
    },
    some: async <T extends string>(message: string, choices: readonly Choice<T>[]) => {
      const { multiselect } = await loadLibrary();
      const options: { value: string; label: string }[] = [...choices];
      return (await answered(await multiselect({ ...terminal, message, options, required: false }))) as T[];
    },
    confirm: async (message) => {
      const { confirm } = await loadLibrary();
      return answered(await confirm({ ...terminal, message, initialValue: false }));
    },
  };
}

function loadLibrary() {
  return import("@clack/prompts");
}

function validationOf({ usual = "", problem }: TextQuestion) {
  return (typed: string | undefined) => problem?.(typed || usual);
}
