import { Worker } from "node:worker_threads";
import { failedReply, type ThreadReply } from "../base/threads.ts";
import { guarded } from "../store/database.ts";
import { answerOf, openBooks, type QueryAnswer, type ShownColumns } from "./report-query.ts";

export interface Question {
  readonly report: string;
  readonly shown: ShownColumns;
  readonly mirrored: readonly string[];
  readonly sql: string;
}

/** `isSpent`: what earlier questions left in memory takes the room of the next one; another process is to answer it. */
export type QueryReply = ThreadReply<QueryAnswer> & { readonly isSpent: boolean };

/**
 * This process answers questions one after the other. SQLite cannot be interrupted from here, and its memory has no limit
 * of its own: who asks ends this process at a deadline, and a thread of it does where it takes too much or nobody asks
 * any more.
 */
const mostBytes = 220_000_000;
/** Half of what is left at the start: a process is not spent by Node's own memory. */
const spentBytes = (process.memoryUsage.rss() + mostBytes) / 2;
const watch = `const parent = process.ppid;
setInterval(() => {
  if (process.memoryUsage.rss() > ${mostBytes} || process.ppid !== parent) process.kill(process.pid, "SIGKILL");
}, 5)`;
new Worker(watch, { eval: true }).unref();

process.on("disconnect", () => process.exit());
process.on("message", (question: Question) => {
  const reply = replyTo(question);
  process.send?.({ ...reply, isSpent: process.memoryUsage.rss() > spentBytes });
});
process.send?.("ready");

function replyTo({ report, shown, mirrored, sql }: Question): ThreadReply<QueryAnswer> {
  try {
    return guarded(report, () => {
      using db = openBooks(report, shown);
      return { value: answerOf(db, sql, mirrored) };
    });
  } catch (error) {
    return failedReply(error);
  }
}
