import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import type { PlantedFault } from "./planted-fault.ts";
import { runBounded } from "./run-bounded.ts";

const namedTimeoutMs = 240_000;
/** No unit tests: they start processes, are run apart, or read the text. They find a fault only where it names them. */
const others = ["bench", "cli", "crash", "e2e", "examples", "mutants", "simulation", "tidy"];
const withoutOthers = others.map((folder) => `--exclude=test/${folder}/**`);

/** What vitest's JSON report says, as far as it is used. */
interface TestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** The first test that fails: its file and its name. */
export interface FailedTest {
  readonly file: string;
  readonly name: string;
}

/**
 * Runs the unit tests over a planted fault: those that it names, then all that reach its file. Tests that do not end
 * in time show nothing.
 *
 * @param othersTimeoutMs for those that the fault does not name; 0: they are not run
 * @returns the first that fails; null: none does
 */
export async function findByTests(
  folder: string,
  { file, tests }: PlantedFault,
  othersTimeoutMs: number,
): Promise<FailedTest | null> {
  const named = await firstFailure(folder, ["run", ...tests], namedTimeoutMs);
  if (named || othersTimeoutMs === 0) return named;
  return firstFailure(folder, ["related", file, "--run", ...withoutOthers], othersTimeoutMs);
}

/** Does this test file fail as it is? Then its failure shows no fault. */
export async function failsAnyway(folder: string, file: string): Promise<boolean> {
  return (await firstFailure(folder, ["run", file], namedTimeoutMs)) !== null;
}

async function firstFailure(
  folder: string,
  which: readonly string[],
  timeoutMs: number,
): Promise<FailedTest | null> {
  const report = path.join(folder, "mutants-report.json");
  rmSync(report, { force: true });
  const how = ["--bail=1", "--maxWorkers=1", "--reporter=json", `--outputFile=${report}`];
  const vitest = path.join(folder, "node_modules/vitest/vitest.mjs");
  const { code, output } = await runBounded([vitest, ...which, ...how], { folder, timeoutMs });
  if (code === 0 || code === null) return null;
  if (!existsSync(report)) throw new Error(`vitest made no report:\n${output}`);
  return failureIn(folder, JSON.parse(readFileSync(report, "utf8")) as TestReport);
}

/** A file without a failed test could not be loaded, or was not begun any more: others explain more. */
function failureIn(folder: string, { testResults }: TestReport): FailedTest | null {
  const failures = testResults
    .filter(({ status }) => status === "failed")
    .map(({ name, assertionResults }) => ({
      file: path.relative(folder, name),
      name: assertionResults.find(({ status }) => status === "failed")?.fullName,
    }));
  const [first] = failures.toSorted((a, b) => Number(b.name !== undefined) - Number(a.name !== undefined));
  return first ? { ...first, name: first.name ?? "the file cannot be loaded" } : null;
}
