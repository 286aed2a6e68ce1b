import { readFileSync } from "node:fs";

/**
 * An `--import` for a program that notes the most memory it ever had, for `peakBytesIn`, and in a line `cpu` the processor
 * time it took, in microseconds. Of this program alone: the system's own count (`maxRSS`) begins with what the parent had.
 * On Linux only.
 */
export function peakReporter(file: string): string {
  const script = `import { readFileSync, writeFileSync } from "node:fs";
    const cpu = ({ user, system } = process.cpuUsage()) => "cpu " + (user + system) + "\\n";
    process.on("exit", () => writeFileSync(${JSON.stringify(file)}, readFileSync("/proc/self/status", "utf8") + cpu()));`;
  return `data:text/javascript,${encodeURIComponent(script)}`;
}

export function peakBytesIn(file: string): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(file, "utf8"))?.[1]) * 1024;
}
