import { spawnSync } from "node:child_process";

/** Names each library that comes with the package under a licence that is not in this list. Usage: `node scripts/licences.ts`. */
const accepted = new Set([
  "MIT",
  "ISC",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "0BSD",
  "BlueOak-1.0.0",
]);

interface Library {
  readonly name: string;
  readonly version: string;
  readonly license?: unknown;
}

const { stdout } = spawnSync("npm", ["query", ".prod"], { encoding: "utf8", maxBuffer: 64_000_000 });
const libraries = JSON.parse(stdout) as Library[];
const refused = libraries.filter(({ license }) => !accepted.has(String(license)));
for (const { name, version, license } of refused)
  process.stderr.write(
    `${name} ${version} has the licence ${JSON.stringify(license)}, which nobody accepted yet\n`,
  );
process.stdout.write(`${libraries.length} packages, ${refused.length} of them under other licences\n`);
// The package itself and its direct dependencies are more than five; fewer means that the question was wrong.
if (refused.length > 0 || libraries.length < 5) process.exitCode = 1;
