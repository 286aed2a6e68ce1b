import { readFileSync } from "node:fs";
import path from "node:path";
import { Stryker } from "@stryker-mutator/core";
import { memoryScratch } from "../../support/memory-folder.ts";
import { partNamed, parts } from "./parts.ts";

/**
 * `npm run mutants:pure -- [PART...]`: Stryker plants every small fault in the pure parts, one at a time, and runs the
 * tests that meet it. Exits 1 when a part has less than 85 % of them killed, or a survivor is not in
 * `test/mutants/SURVIVORS.md`, where each stands below the reason why it lives.
 */
const reasons = new Set(readFileSync("test/mutants/SURVIVORS.md", "utf8").split("\n"));
/** Thousands of mirrors are written: in memory, where there is such a file system. */
const scratch = memoryScratch();
process.once("exit", () => scratch.remove());
process.env["TMPDIR"] = scratch.path;

const [, , ...chosen] = process.argv;
for (const name of chosen.length > 0 ? chosen : Object.keys(parts)) {
  const startedMs = performance.now();
  const mutants = await mutate(name);
  const living = mutants.filter(({ status }) => status === "Survived" || status === "NoCoverage");
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  const share = (1 - living.length / mutants.length) * 100;
  const counts = `${mutants.length} mutants, ${mutants.length - living.length} killed`;
  print(`${name}: ${counts}, ${share.toFixed(1)} %, ${seconds} s`);
  const unexplained = new Set(living.map(lineOf).filter((line) => !reasons.has(line)));
  for (const line of [...unexplained].toSorted()) print(line);
  if (unexplained.size > 0) process.exitCode = 1;
}

/** The mutants of a part, with what became of them. */
async function mutate(name: string) {
  const { files } = partNamed(name);
  process.env["MUTATED_PART"] = name;
  const stryker = new Stryker({
    mutate: [...files],
    plugins: ["@stryker-mutator/vitest-runner", "./test/mutants/pure/messages.ts"],
    ignorers: ["messages"],
    testRunner: "vitest",
    vitest: { configFile: "test/mutants/pure/vitest.config.ts", related: false },
    coverageAnalysis: "perTest",
    concurrency: 2,
    dryRunTimeoutMinutes: 60,
    tempDirName: scratch.path,
    ignorePatterns: ["docs", "dist", "examples", ".built*"],
    // Vitest checks no types, and Stryker cannot read a configuration of TypeScript 7.
    disableTypeChecks: false,
    tsconfigFile: "none.json",
    thresholds: { high: 100, low: 85, break: 85 },
    reporters: ["progress-append-only"],
  });
  const mutants = await stryker.runMutationTest();
  return mutants.filter(({ status }) => status !== "Ignored");
}

type Mutant = Awaited<ReturnType<typeof mutate>>[number];

/** As the list of survivors has it: without the number of the line, which other changes move. */
function lineOf({ fileName, location: { start, end }, replacement }: Mutant): string {
  const lines = readFileSync(fileName, "utf8").split("\n");
  const source = lines[start.line - 1] ?? "";
  const last = (lines[end.line - 1] ?? "").slice(0, end.column - 1);
  const code = [...lines.slice(start.line - 1, end.line - 1), last].join("\n").slice(start.column - 1);
  const file = path.relative("", fileName);
  return `- \`${file}\` \`${short(source)}\`: \`${short(code)}\` to \`${short(replacement) || "nothing"}\``;
}

function short(text: string): string {
  return text.trim().replaceAll(/\s+/g, " ").replaceAll("`", "'").slice(0, 100);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
