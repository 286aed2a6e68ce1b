import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { MirrorError } from "../base/errors.ts";
import { Semaphore } from "../base/semaphore.ts";
import { errorOfReply, threadFile } from "../base/threads.ts";
import type { QueryAnswer } from "./report-query.ts";
import type { QueryReply, Question } from "./query-process.ts";

const deadlineMs = 5_000;
const program = threadFile(new URL("./query-process.ts", import.meta.url));

/** Asks a process of its own, one question at a time; it is started again after it was ended. */
export class QueryRunner {
  private readonly turn = new Semaphore(1);
  private readonly ended = new AbortController();
  private child: ChildProcess | null = null;
  /** The process listens, or has ended. */
  private ready: Promise<unknown> = Promise.resolve();

  /** @throws MirrorError `usage`: it is no query, or takes too long or too much; `database`; `stopped`: disposed of */
  async answer(question: Question): Promise<QueryAnswer> {
    using _ = await this.turn.acquire(this.ended.signal);
    if (this.ended.signal.aborted) throw new MirrorError("stopped", "nobody waits for an answer any more");
    const child = (this.child ??= this.start());
    // On a busy machine it starts slowly: that is no time of the query.
    await this.ready;
    return await this.ask(child, question);
  }

  private async ask(child: ChildProcess, question: Question): Promise<QueryAnswer> {
    let isLate = false;
    const deadline = setTimeout(() => (isLate = child.kill("SIGKILL")), deadlineMs);
    const { promise: reply, resolve } = Promise.withResolvers<QueryReply | null>();
    const onExit = () => resolve(null);
    try {
      child.once("message", resolve).once("exit", onExit);
      child.send(question, (error) => {
        if (error) onExit();
      });
      const said = await reply;
      if (said === null) {
        const what = isLate ? `takes longer than ${deadlineMs / 1000} s` : "needs too much memory";
        const hint =
          "Ask for less: a month, a client, sums in place of rows; the views have most sums already.";
        throw new MirrorError("usage", `the query ${what} and was ended`, { hint });
      }
      if (said.isSpent && child.kill("SIGKILL")) this.child = null;
      if ("error" in said) throw errorOfReply(said);
      return said.value;
    } finally {
      child.off("message", resolve).off("exit", onExit);
      clearTimeout(deadline);
    }
  }

  /** Its output is no part of the protocol. One that ended, also between two questions, is not asked again. */
  private start(): ChildProcess {
    const child = fork(program, { serialization: "advanced", stdio: ["ignore", "ignore", "inherit", "ipc"] });
    child.once("exit", () => {
      if (this.child === child) this.child = null;
    });
    this.ready = Promise.race([once(child, "message"), once(child, "exit")]);
    return child;
  }

  [Symbol.dispose](): void {
    this.ended.abort();
    this.child?.kill("SIGKILL");
    this.child = null;
  }
}
