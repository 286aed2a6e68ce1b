import { runInThread, threadFile } from "../../base/threads.ts";
import type { MirrorTask } from "./mirror-thread.ts";

/** Does a task in a thread of its own. Throws as `mirror-thread.ts` does, and `stopped`. */
export function runMirrorTask<Value>(task: MirrorTask, signal: AbortSignal): Promise<Value> {
  return runInThread<Value>(threadFile(new URL("./mirror-thread.ts", import.meta.url)), task, signal);
}
