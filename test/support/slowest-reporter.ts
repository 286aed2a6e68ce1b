import path from "node:path";
import type { Reporter, TestModule } from "vitest/node";

const shown = 10;

/** Says at the end of a run how long it took, and which files of tests took longest. */
export class SlowestReporter implements Reporter {
  private readonly startedMs = performance.now();

  onTestRunEnd(modules: readonly TestModule[]): void {
    const byTime = modules.map((module) => ({ module, tookMs: timeOf(module) }));
    const slowest = byTime.toSorted((a, b) => b.tookMs - a.tookMs).slice(0, shown);
    console.log(`The run took ${seconds(performance.now() - this.startedMs)}. The slowest files:`);
    for (const { module, tookMs } of slowest)
      console.log(`  ${seconds(tookMs).padStart(7)}  ${path.relative("", module.moduleId)}`);
  }
}

function timeOf(module: TestModule): number {
  const { collectDuration, duration } = module.diagnostic();
  return collectDuration + duration;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
