import { readdirSync, readFileSync } from "node:fs";

/** Of Linux: ticks of processor time in a second (`getconf CLK_TCK`). */
const ticksPerSecond = 100;

/** Processor time that a process has used, in seconds; with that of children that have ended. Reads `/proc`. */
export function processorSeconds(pid: number): number {
  const fields = statOf(pid);
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond;
}

/** As `processorSeconds`, of a process and its children: Postgres has one for each connection. */
export function treeProcessorSeconds(pid: number): number {
  const children = readdirSync("/proc")
    .map(Number)
    .filter((one) => one > 0 && parentOf(one) === pid);
  return [pid, ...children].reduce((sum, one) => sum + secondsOrNone(one), 0);
}

function parentOf(pid: number): number {
  try {
    return Number(statOf(pid)[1]);
  } catch {
    return 0;
  }
}

/** A process that has ended meanwhile counts with its parent. */
function secondsOrNone(pid: number): number {
  try {
    return processorSeconds(pid);
  } catch {
    return 0;
  }
}

/** The fields after the name, which may contain blanks: the first is the state, the second the parent. */
function statOf(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}
