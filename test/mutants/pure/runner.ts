import { TestRunner, type RunnerTask, type RunnerTestCase } from "vitest";
import { MutantSwitch, Progress } from "./switch.ts";

const choose = ((globalThis as { mutantSwitch?: MutantSwitch }).mutantSwitch ??= new MutantSwitch());
Object.assign(globalThis, { isMutated: choose.isMutated });
const progress = new Progress(process.env["MUTANTS_FOLDER"] ?? "");
/** Tests that take longer are left to the next pass, with what lives then. */
const mostMs = Number(process.env["MUTANTS_PASS_MS"] ?? Infinity);
/** One mutant that is at work from the beginning, for what is made while modules are loaded. */
const lasting = Number(process.env["MUTANT"] ?? 0);
choose.lasting = lasting;

/** Tries of one test: first without a mutant, then with each that it met, and at last without one again. */
interface Tries {
  readonly left: number[];
  asked: number;
  elapsedMs: number;
  startedMs: number;
}

/**
 * Runs each test again with every living mutant that it meets. Vitest takes the tries for retries, so hooks run as
 * always.
 */
class MutantRunner extends TestRunner {
  private readonly tries = new Map<string, Tries>();

  override async onBeforeRunTask(test: RunnerTask): Promise<void> {
    await super.onBeforeRunTask(test);
    progress.addMet(choose.metLoading, "loaded");
    choose.metLoading.clear();
    // What is at work from the beginning meets the tests that were quick enough, each of them once.
    if (progress.tried.has(nameOf(test)) === (lasting === 0)) test.mode = "skip";
    if (lasting === 0) Object.assign(test, { retry: Number.MAX_SAFE_INTEGER });
  }

  override onBeforeTryTask(test: RunnerTask, options: { retry: number; repeats: number }): void {
    super.onBeforeTryTask(test, options);
    if (lasting !== 0) return choose.begin(lasting, 100_000_000);
    const tries = this.tries.get(test.id) ?? { left: [], asked: 0, elapsedMs: 0, startedMs: 0 };
    this.tries.set(test.id, tries);
    const id = options.retry === 0 ? 0 : (tries.left[0] ?? 0);
    progress.trying(id);
    choose.begin(id, id === 0 ? Infinity : tries.asked * 20 + 100_000);
    tries.startedMs = performance.now();
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    const run = TestRunner.getTestFn(test)();
    if (choose.active === 0 || lasting !== 0) return await run;
    const deadlineMs = 2_000 + 10 * (this.tries.get(test.id)?.elapsedMs ?? 0);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error("the mutant makes it wait")), deadlineMs);
    });
    try {
      await Promise.race([run, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  override async onAfterRetryTask(test: RunnerTestCase, { retry }: { retry: number }): Promise<void> {
    const tries = this.tries.get(test.id);
    const result = test.result;
    if (!tries || !result || lasting !== 0) return;
    const failed = result.state === "fail";
    if (choose.active === 0) {
      // Without a mutant: the first try, or the last.
      if (retry === 0) {
        tries.asked = choose.asked;
        tries.elapsedMs = performance.now() - tries.startedMs;
        progress.addMet(choose.met, "met");
        const isNow = !failed && tries.elapsedMs <= mostMs;
        if (isNow) tries.left.push(...[...choose.met].filter((id) => !progress.killed.has(id)), 0);
      } else {
        tries.left.shift();
        if (failed) process.stdout.write(`a mutant left something behind: ${test.file.name} ${test.name}\n`);
      }
      if (failed && retry === 0)
        process.stdout.write(`fails without a mutant: ${test.file.name} ${test.name}\n`);
    } else {
      tries.left.shift();
      if (failed) progress.addKilled(choose.active);
    }
    choose.end();
    result.attempts = [];
    const isOver = tries.left.length === 0;
    if (isOver && tries.elapsedMs <= mostMs) progress.addTried(nameOf(test));
    result.state = isOver ? "pass" : "fail";
    result.errors = isOver ? undefined : [{ message: "the next mutant" }];
  }
}

function nameOf(test: RunnerTask): string {
  return `${test.file.name} ${test.fullTestName}`;
}

// Vitest asks for a default export.
export { MutantRunner as default };
