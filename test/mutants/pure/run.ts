import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { memoryScratch } from "../../support/memory-folder.ts";
import { instrument, type Mutant } from "./instrument.ts";
import { partNamed, parts } from "./parts.ts";
import { Progress } from "./switch.ts";

/**
 * `npm run mutants:pure -- [PART...]`: plants every small fault in the pure parts, one at a time, and runs the tests
 * that meet it. Exits 1 when a part has less than 85 % of them killed, or a survivor is not in
 * `test/mutants/SURVIVORS.md`, where each stands below the reason why it lives.
 */
const leastShare = 0.85;
/** A test that takes longer than the last of them is run for no mutant. */
const passesMs = [200, 1_000];
const stallMs = 120_000;
/** Thousands of mirrors are written: in memory, where there is such a file system. */
const scratch = memoryScratch();
process.once("exit", () => scratch.remove());

const reasons = new Set(readFileSync("test/mutants/SURVIVORS.md", "utf8").split("\n"));
const [, , ...chosen] = process.argv;
for (const name of chosen.length > 0 ? chosen : Object.keys(parts)) {
  const part = partNamed(name);
  const startedMs = performance.now();
  const { mutants } = instrument(part);
  const { killed } = await runPart(name);
  const living = mutants.filter(({ id }) => !killed.has(id));
  const share = 1 - living.length / mutants.length;
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  const counts = `${mutants.length} mutants, ${mutants.length - living.length} killed`;
  print(`${part.title}: ${counts}, ${(share * 100).toFixed(1)} %, ${seconds} s`);
  const unexplained = new Set(living.map(lineOf).filter((line) => !reasons.has(line)));
  for (const line of [...unexplained].toSorted()) print(line);
  if (share < leastShare || unexplained.size > 0) process.exitCode = 1;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** As the list of survivors has it: without the number of the line, which other changes move. */
function lineOf({ file, source, code, mutated }: Mutant): string {
  return `- \`${file}\` \`${short(source)}\`: \`${short(code)}\` to \`${short(mutated) || "nothing"}\``;
}

function short(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll("`", "'").slice(0, 100);
}

function folderOf(name: string): string {
  return `node_modules/.cache/mutants/${name}`;
}

/** Quick tests first; what lives then meets the slow ones; what works while modules are loaded gets a process each. */
async function runPart(name: string): Promise<Progress> {
  const folder = folderOf(name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const passMs of passesMs) await runTests(name, { MUTANTS_PASS_MS: String(passMs) });
  const done = new Progress(folder);
  if ((await runTests(name, { MUTANT: "-1" })) !== 0)
    throw new Error(`${name}: the tests fail without a mutant`);
  for (const id of new Set(done.numbers("loaded"))) {
    if (done.killed.has(id)) continue;
    const code = await runTests(name, { MUTANT: String(id) });
    if (code !== 0) done.addKilled(id);
  }
  return done;
}

/** One run of vitest; a mutant that hangs is killed with its process, and the rest begins anew. */
async function runTests(name: string, more: Record<string, string>): Promise<number> {
  const folder = folderOf(name);
  const env = { ...process.env, ...more, MUTATED_PART: name, MUTANTS_FOLDER: folder, TMPDIR: scratch.path };
  const args = "vitest run --config test/mutants/pure/vitest.config.ts --reporter=dot --bail=1".split(" ");
  for (;;) {
    const child = spawn("npx", args, { env, stdio: ["ignore", "ignore", "inherit"], detached: true });
    let stalled = false;
    const watch = setInterval(() => {
      const since = statSync(`${folder}/trying`, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
      stalled = "MUTANT" in more ? false : Date.now() - since > stallMs;
      if (stalled && child.pid) process.kill(-child.pid, "SIGKILL");
    }, 1_000);
    const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
    clearInterval(watch);
    if (!stalled) return code ?? 1;
    const progress = new Progress(folder);
    const [id = 0] = progress.numbers("trying");
    if (id <= 0) throw new Error(`${name}: a test without a mutant takes longer than ${stallMs} ms`);
    progress.addKilled(id);
    progress.trying(0);
  }
}
