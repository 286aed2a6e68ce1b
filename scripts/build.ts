import { copyFileSync, cpSync, existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/**
 * Bundles the package's code. Usage: `node scripts/build.ts [FOLDER]`, `dist` by default. Types are made by `tsc`.
 *
 * Node needs up to a millisecond to find and link each module. With a file for each of ours and of the libraries below,
 * a refused config took seven times an empty program; bundled it takes less than five.
 */
const project = fileURLToPath(new URL("..", import.meta.url));
const out = path.resolve(process.argv[2] ?? path.join(project, "dist"));

/** Small libraries that most commands need, and two of 120 and 250 files. The others stay packages, loaded when they are needed. */
const bundled = new Set(["commander", "croner", "kysely", "picocolors", "pino", "undici", "yaml", "zod"]);

/** A comment that asks to stay with the code, or that ends with who has the copyright: of code from elsewhere. */
const notice = /\/\*!.*?\*\/|^\/\/.*(?:\n\/\/ Copyright.*)+/gm;

/** Entries of the package: the program, the library, the process of questions, a thread of an export, and the thread for whole mirrors. */
const input = {
  main: "src/main.ts",
  index: "src/index.ts",
  "query-process": "src/mcp/query-process.ts",
  "encoder-thread": "src/export/threads/encoder-thread.ts",
  "mirror-thread": "src/fleet/snapshot/mirror-thread.ts",
};

if (existsSync(out))
  for (const name of readdirSync(out)) if (name.endsWith(".js")) rmSync(path.join(out, name));
const { dependencies, peerDependencies } = JSON.parse(
  readFileSync(path.join(project, "package.json"), "utf8"),
) as {
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
};
const packages = Object.keys({ ...dependencies, ...peerDependencies }).filter((name) => !bundled.has(name));
const build = await rolldown({
  cwd: project,
  input,
  platform: "node",
  // The oldest Node that the package takes knows no `using`.
  transform: { target: "node22" },
  external: (id) => packages.some((name) => id === name || id.startsWith(`${name}/`)),
});
/**
 * What help needs and what reading a config needs, each with all that it imports, is one file. What the library, threads
 * and child processes share with them is apart, so that they load nothing else of it.
 */
const groups = [
  {
    name: "base",
    test: /\/(src\/((base|json)\/|connector\/(service-errors|translation)\.ts)|connectors\/\w+\/known\.ts)/,
    priority: 3,
  },
  { name: "address", test: /\/src\/(config\/(address|secrets)|connector\/transport)\.ts/, priority: 3 },
  { name: "zod", test: /node_modules\/zod\//, priority: 3 },
  { name: "command-line", test: /src\/cli\/(program\/invocation|commands\/all-commands)\.ts$/, priority: 2 },
  { name: "config", test: /src\/cli\/(program\/command-context|console\/console)\.ts$/, priority: 1 },
];
const { output } = await build.write({
  dir: out,
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
  codeSplitting: { groups },
  // Names and lines stay, for stack traces. A file with one letter beyond ASCII is decoded, hashed and parsed in two bytes a
  // letter: with comments that was 5 % of a start.
  comments: false,
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
});
// What the status page loads, the shells' scripts, and the unit that `init` installs.
for (const folder of ["src/status/page", "src/cli/program", "src/cli/commands"])
  cpSync(path.join(project, folder, "assets"), path.join(out, "assets"), { recursive: true });
writeFileSync(path.join(out, "THIRD-PARTY-LICENSES.txt"), licenses());
// npm packs no lock file of the top folder: with this one the package is installed with the libraries it was tested with.
copyFileSync(path.join(project, "package-lock.json"), path.join(out, "package-lock.json"));

/** The licence texts of the libraries in the bundle, which they ask to be passed on, and what comments there ask for. */
function licenses(): string {
  const modules = output.flatMap((one) => (one.type === "chunk" ? one.moduleIds : []));
  const names = modules.flatMap((id) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1] ?? []);
  const texts = [...new Set(names)].toSorted().map((name) => {
    const folder = path.join(project, "node_modules", name);
    const file = ["LICENSE", "LICENSE.md", "license"].map((one) => path.join(folder, one)).find(existsSync);
    if (file === undefined) throw new Error(`${name} has no licence file`);
    const own = modules.filter((id) => id.startsWith(`${folder}/`));
    const notices = own.flatMap((id) => readFileSync(id, "utf8").match(notice) ?? []);
    return `${[name, readFileSync(file, "utf8").trim(), ...notices].join("\n\n")}\n`;
  });
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}
