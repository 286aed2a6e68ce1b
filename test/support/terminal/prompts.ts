import type { Prompts } from "../../../src/cli/console/prompts.ts";

type TextQuestion = Parameters<Prompts["text"]>[0];

/** What a person at the terminal says to one question; undefined: only Enter. */
export type Answer = string | boolean | readonly string[] | undefined;

/** A person who gives these answers in their order; what a question refuses is followed by the next answer. */
export function answering(answers: readonly Answer[]) {
  const questions: string[] = [];
  const refused: string[] = [];
  const left = [...answers];
  const next = (message: string): Answer => {
    questions.push(message);
    if (left.length === 0) throw new Error(`no answer to: ${message}`);
    return left.shift();
  };
  const typed = (question: TextQuestion): string => {
    const answer = (next(question.message) as string | undefined) ?? question.usual ?? "";
    const problem = question.problem?.(answer);
    if (problem === undefined) return answer;
    refused.push(problem);
    return typed(question);
  };
  const prompts = {
    text: async (question: TextQuestion) => typed(question),
    secret: async (question: TextQuestion) => typed(question),
    one: async (message: string) => next(message),
    some: async (message: string) => next(message) ?? [],
    confirm: async (message: string) => next(message) === true,
  } as Prompts;
  return { openPrompts: () => prompts, questions, refused, left };
}
