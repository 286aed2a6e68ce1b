import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { runBounded } from "./run-bounded.ts";

const timeoutMs = 240_000;

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

/** Runs test files in a copy of the project; gives the first test that fails. What does not end in time shows nothing. */
export async function firstFailure(folder: string, files: readonly string[]): Promise<FailedTest | null> {
  const report = path.join(folder, "mutants-report.json");
  rmSync(report, { force: true });
  const how = ["--bail=1", "--maxWorkers=1", "--reporter=json", `--outputFile=${report}`];
  const vitest = path.join(folder, "node_modules/vitest/vitest.mjs");
  const { code, output } = await runBounded([vitest, "run", ...files, ...how], { folder, timeoutMs });
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
