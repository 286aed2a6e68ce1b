import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, statSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parseDocument } from "yaml";
import { faultsOfSite, siteLink, headingId, type ProjectFiles } from "../../scripts/site/links.ts";
import { pageGroups } from "../../scripts/site/pages.ts";
import { searchEntries } from "../../scripts/site/search-entries.ts";
import { root, endOf, runCommand, startProgram, temporaryFolder } from "../support/program/cli.ts";
import { knownFakturoid } from "../../connectors/fakturoid/known.ts";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import { commands } from "../../src/cli/commands/all-commands.ts";
import { loadConfig } from "../../src/config/load.ts";
import { blocks, docs } from "../support/docs/docs.ts";
import { openSandbox } from "../support/sandbox/sandbox.ts";
import { readProject } from "../tidy/read-source.ts";

const sources = pageGroups.flatMap(({ pages }) => pages.map(({ source }) => source));
const project: ProjectFiles = {
  isPage: (file) => sources.includes(file),
  isFile: (file) => existsSync(path.join(root, file)) && statSync(path.join(root, file)).isFile(),
};

describe("the site of the documents", () => {
  test("has every page of docs/ once, and nothing that is not there", () => {
    const names = readdirSync(path.join(root, "docs")).filter((name) => name.endsWith(".md"));
    expect(sources).toEqual(expect.arrayContaining(names.map((name) => `docs/${name}`)));
    expect(new Set(sources).size).toBe(sources.length);
    expect(sources.filter((source) => !project.isFile(source))).toEqual([]);
  });

  test("makes of links between Markdown files links between pages, and copies other files", () => {
    const page = { href: "docs/files.html#the-proof", copied: null };
    expect(siteLink("README.md", "docs/files.md#the-proof", project)).toEqual(page);
    expect(siteLink("docs/files.md", "../README.md", project).href).toBe("../index.html");
    const file = { href: "../examples/Caddyfile", copied: "examples/Caddyfile" };
    expect(siteLink("docs/webhooks.md", "../examples/Caddyfile", project)).toEqual(file);
    expect(siteLink("docs/backup.md", "https://litestream.io", project).href).toBe("https://litestream.io");
  });

  test.each(["docs/file.md", "../other/README.md", "examples/", "dosc/files.md#the-proof"])(
    "is not built with a link to %s",
    (href) => {
      expect(() => siteLink("README.md", href, project)).toThrow("README.md: the link");
    },
  );

  test("is not built with a link to a heading that is not there", () => {
    const built = new Map([
      ["index.html", '<a href="docs/a.html#one">1</a><a href="docs/a.html#two">2</a><a href="#here">3</a>'],
      ["docs/a.html", '<h2 id="one">One</h2><a href="../index.html#none">0</a>'],
    ]);
    expect(faultsOfSite(built)).toEqual([
      "index.html: there is no heading docs/a.html#two",
      "index.html: there is no heading #here",
      "docs/a.html: there is no heading ../index.html#none",
    ]);
  });

  test.each([
    '<script src="https://cdn.example.com/a.js"></script>',
    '<link rel="stylesheet" href="//fonts.example.com/css">',
    '<img alt="" src="http://example.com/badge.svg">',
  ])("asks no other host: %s is not built", (tag) => {
    expect(faultsOfSite(new Map([["index.html", tag]]))).toHaveLength(1);
  });

  test("finds a text by its heading and page", () => {
    const html =
      '<title>Files</title><main id="content"><h1 id="a">A &amp; B</h1><p>one</p><h2 id="b">C</h2>two</main>';
    expect(searchEntries(new Map([["docs/a.html", html]]))).toEqual([
      { place: "docs/a.html#a", page: "Files", heading: "A & B", text: "one" },
      { place: "docs/a.html#b", page: "Files", heading: "C", text: "two" },
    ]);
  });
});

/** What `npm pack` takes, by path; built files only where there was a build. */
function packedFiles(): readonly string[] {
  const listed = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const report = JSON.parse(listed) as Record<string, { files: { path: string }[] }>;
  return Object.values(report).flatMap(({ files }) => files.map((file) => file.path));
}

const packed = packedFiles();
const markdown = packed.filter((file) => file.endsWith(".md"));
const pages = new Map(markdown.map((file) => [file, readFileSync(path.join(root, file), "utf8")]));
const anchorsOf = (text: string) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => headingId(heading));
const anchors = new Map([...pages].map(([file, text]) => [file, anchorsOf(text)]));

function brokenLinks(file: string, text: string): string[] {
  const prose = text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, "").replaceAll(/`[^`\n]*`/g, "");
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  return links.filter((link) => !/^(?:https:|mailto:)/.test(link) && !isThere(file, link));
}

function isThere(file: string, link: string): boolean {
  const [target = "", anchor] = link.split("#");
  const to = target === "" ? file : path.posix.join(path.posix.dirname(file), target);
  if (anchor !== undefined) return anchors.get(to)?.includes(anchor) ?? false;
  return packed.some((one) => one === to || one.startsWith(`${to.replace(/\/$/, "")}/`));
}

test.each([...pages])(
  "each link of %s leads to a file of the package, and to a heading that is there",
  (file, text) => {
    expect(brokenLinks(file, text)).toEqual([]);
  },
);

test("the package holds what people read and start from, and no source, test or secret", () => {
  for (const file of ["README.md", "LICENSE", "config.example.yaml", "examples/docker/Dockerfile"])
    expect(packed).toContain(file);
  expect(pages.size).toBeGreaterThan(8);
  const others = packed.filter((file) =>
    /^(?:test|scripts|connectors|src)\/|\.(?:token|secret|db)$/.test(file),
  );
  expect(others.filter((file) => path.basename(file) !== "README.md")).toEqual([]);
});

const readme = docs.get("README.md") ?? "";

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
      connectors: [declaration, knownFakturoid],
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
