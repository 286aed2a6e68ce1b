import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { parseDocument } from "yaml";
import { knownFakturoid } from "../../connectors/fakturoid/known-fakturoid.ts";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { commands } from "../../src/cli/commands/all-commands.ts";
import { loadConfig } from "../../src/config/load.ts";
import { endOf, root, runCommand, startProgram, temporaryFolder } from "../support/program/cli.ts";
import { blocks, docs } from "../support/docs/docs.ts";
import { openSandbox } from "../support/sandbox/sandbox.ts";
import { readProject } from "../tidy/read-source.ts";

const readme = docs.get("README.md") ?? "";

/** The first cells of the rows of a table, by its heading. */
function firstCells(text: string, heading: string): string[] {
  const section = text.split(/^## /m).find((one) => one.startsWith(heading)) ?? "";
  return [...section.matchAll(/^\| (`(?:[^|\\]|\\\|)*?) +\|/gm)].map(([, cell = ""]) =>
    cell.replaceAll(String.raw`\|`, "|"),
  );
}

const wordsOf = (cells: readonly string[]) => cells.flatMap((cell) => cell.match(/[a-z_-]+/g) ?? []);

test("the README's table has every command", () => {
  const cells = firstCells(readme, "Commands");
  const named = new Set(wordsOf(cells));
  expect(commands.map(({ name }) => name.split(" ")[0] ?? "").filter((name) => !named.has(name))).toEqual([]);
});

test("the README's table has every key at the top of the config, and no other", async () => {
  const { stdout } = await runCommand(["schema"]);
  const { properties } = JSON.parse(stdout) as { properties: Record<string, unknown> };
  const cells = firstCells(readme, "Config");
  const named = cells.flatMap((cell) => [...cell.matchAll(/`([a-z_]+)/g)].map(([, key]) => key ?? ""));
  expect(named.toSorted()).toEqual(Object.keys(properties).toSorted());
});

test("each library stands with its reason in the README, each tool in CONTRIBUTING", () => {
  const text = readFileSync(path.join(root, "package.json"), "utf8");
  type Kind = "dependencies" | "devDependencies" | "peerDependencies";
  const all = JSON.parse(text) as Record<Kind, Record<string, string>>;
  const libraries = Object.keys({ ...all.dependencies, ...all.peerDependencies });
  const cells = firstCells(readme, "What it is built with").map((cell) => cell.replaceAll("`", ""));
  expect(cells.toSorted()).toEqual(libraries.toSorted());
  const contributing = readFileSync(path.join(root, "CONTRIBUTING.md"), "utf8");
  const withoutOwnReason = /^@types\/|secretlint-rule/;
  const tools = Object.keys(all.devDependencies).filter(
    (name) => !withoutOwnReason.test(name) && !libraries.includes(name),
  );
  expect(tools.filter((name) => !contributing.includes(`\`${name}\``))).toEqual([]);
});

test("the README is short: less than 200 lines", () => {
  expect(readme.split("\n").length).toBeLessThan(200);
});

const plain = (text: string) => text.replaceAll("\\", "").replaceAll(/\s+/g, " ");

test("every option stands in the list of commands as --help has it; `npm run views` writes it", () => {
  const text = plain(docs.get("docs/commands.md") ?? "");
  const options = commands.flatMap(({ name, options: taken }) =>
    Object.values(taken).map(
      ({ flags, doc }) => `| \`${name}\` | \`${flags.replaceAll("|", "/")}\` | ${plain(doc)} |`,
    ),
  );
  expect(options.length).toBeGreaterThan(60);
  expect(options.filter((row) => !text.includes(row))).toEqual([]);
});

const yaml = blocks.filter(({ language, marks }) => language === "yaml" && marks[0] !== "litestream");

test.each(yaml.map(({ file, text }) => [file, text] as const))(
  "the program takes the config that %s shows",
  (_, text) => {
    const config = parseDocument(text);
    expect(config.errors).toEqual([]);
    if (!config.has("companies")) config.set("companies", { acme: { token: "${env:FINTORO_TOKEN}" } });
    const { warnings } = loadConfig({
      path: "/srv/config.yaml",
      env: {
        FINTORO_TOKEN: "a-token",
        SANDBOX_TOKEN: "a-token",
        FAKTUROID_CLIENT_ID: "an-id",
        FAKTUROID_CLIENT_SECRET: "a-secret",
      },
      cwd: "/srv",
      connectors: [manifest, knownFakturoid],
      readFile: (file) => {
        if (file === "/srv/config.yaml") return config.toString();
        const key = `whsec_${Buffer.alloc(32).toString("base64")}`;
        return file.endsWith("-secret") ? key : "https://hooks.example.com/secret-of-16-letters";
      },
    });
    expect(warnings).toEqual([]);
  },
);

test("symptoms that quote the program are what it says", () => {
  const text = docs.get("docs/troubleshooting.md") ?? "";
  const quotes = [...text.matchAll(/^\| .*?"([^"|]+)"/gm)].map(([, quote = ""]) => quote);
  expect(quotes.length).toBeGreaterThan(3);
  const said = readProject(["src"]).flatMap(({ strings }) => strings);
  expect(quotes.filter((quote) => !said.some((one) => one.includes(quote)))).toEqual([]);
});

test("the example of the library works", async () => {
  const example = blocks.find(({ language }) => language === "ts");
  const sandbox = await openSandbox();
  const library = JSON.stringify(path.join(root, "src/index.ts"));
  const code = (example?.text ?? "")
    .replace('"fintoro-mirror"', library)
    .replace("connect({", `connect({ baseUrl: ${JSON.stringify(sandbox.url)},`);
  const cwd = temporaryFolder();
  const file = path.join(cwd, "example.ts");
  writeFileSync(file, code);
  writeFileSync(path.join(cwd, "package.json"), '{"type":"module"}');
  const ended = await endOf(startProgram([], { cwd, file, env: { FINTORO_TOKEN: sandbox.token } }));
  expect(ended).toMatchObject({ code: 0, stderr: "" });
});
