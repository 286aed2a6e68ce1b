import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { root, temporaryFolder } from "../support/program/cli.ts";

const textOf = (name: string) => readFileSync(path.join(root, name), "utf8");
const { scripts } = JSON.parse(textOf("package.json")) as { scripts: Record<string, string> };

/** A command of package.json, in a folder with these files. */
function runScript(name: string, files: Readonly<Record<string, string>>) {
  const cwd = temporaryFolder(files);
  const env = { ...process.env, PATH: `${path.join(root, "node_modules/.bin")}:${process.env["PATH"]}` };
  const line = (scripts[name] ?? "exit 99").replaceAll("scripts/", `${root}/scripts/`);
  const { status, stdout, stderr } = spawnSync("sh", ["-c", line], { cwd, env, encoding: "utf8" });
  return { status, said: stdout + stderr };
}

test("a change must pass types, lint, the scan for secrets, licences, and the package in an empty folder", () => {
  const steps = [...textOf(".ci/run").matchAll(/^ *step .*run --silent (\S+)$/gm)].map(([, name]) => name);
  expect(steps).toEqual(["types", "lint", "docs", "secrets", "licences", "package"]);
});

test("the README's command that proves it is what a change must pass, as it stands there", () => {
  const line = textOf("README.md")
    .split("\n")
    .find((text) => text.includes("npm test"));
  expect(line).toBe("npm ci && npm test");
  expect(textOf(".ci/run")).toContain('tests "$(grep -m 1 "npm test" README.md)"\n');
});

describe("the scan for secrets", () => {
  const config = { ".secretlintrc.json": textOf(".secretlintrc.json"), ".gitignore": textOf(".gitignore") };
  // Made up here, so that the scan does not find it in this file.
  const token = ["ghp", "_", "A1b2C3d4E5f6G7h8I9j0".repeat(2).slice(0, 36)].join("");

  // Fault: secrets | a token is committed, also into a folder with a point | the scan of .ci/run | it fails, and names the file without the token
  test("finds a token wherever it is", () => {
    const places = ["src/one.ts", "docs/one.md", ".github/one.yml", ".hidden"];
    const files = Object.fromEntries(places.map((file) => [file, `key: ${token}\n`]));
    const { status, said } = runScript("secrets", { ...config, ...files });
    expect(status).toBe(1);
    expect(places.filter((file) => !said.includes(file))).toEqual([]);
    expect(said).not.toContain(token);
  });

  test("finds none in an example", () => {
    const { status } = runScript("secrets", { ...config, "docs/one.md": textOf("docs/webhooks.md") });
    expect(status).toBe(0);
  });
});

/** A folder with so many installed libraries, and one under this licence. */
function withLibrary(license: string) {
  const names = ["a", "b", "c", "d", "odd"];
  const declarationOf = (name: string) =>
    JSON.stringify({ name, version: "1.0.0", license: name === "odd" ? license : "MIT" });
  const dependencies = Object.fromEntries(names.map((name) => [name, "1.0.0"]));
  const own = JSON.stringify({ name: "own", version: "1.0.0", license: "MIT", dependencies });
  const installed = names.map((name) => [`node_modules/${name}/package.json`, declarationOf(name)]);
  return runScript("licences", { "package.json": own, ...Object.fromEntries(installed) });
}

test("the licences of libraries are those that were agreed on", () => {
  expect(withLibrary("ISC").status).toBe(0);
  const { status, said } = withLibrary("GPL-3.0-only");
  expect([status, said]).toEqual([1, expect.stringContaining('odd 1.0.0 has the licence "GPL-3.0-only"')]);
});

/** What the documents and examples have people put into a checkout. */
const secrets = [
  "config.yaml",
  ".env",
  "acme.token",
  "acme.webhook-secret",
  "acme.webhook-secret.new",
  "data/acme.db",
  "data/acme.secrets.json.new",
  "conf/acme.secrets.json.new",
  "examples/docker/acme-token",
  "examples/docker/acme.webhook-secret.new",
];

// Fault: secrets | a token, webhook secret or config in the checkout | `git add .` | none is added
test("git adds no secret and no mirror, and every example", () => {
  const cwd = temporaryFolder({ ".gitignore": textOf(".gitignore") });
  const git = (...args: string[]) =>
    spawnSync("git", ["-c", "core.excludesFile=", ...args], { cwd, encoding: "utf8" });
  git("init", "--quiet");
  expect(git("check-ignore", ...secrets).stdout).toBe(`${secrets.join("\n")}\n`);
  expect(git("check-ignore", "examples/config.yaml", "examples/docker/config.yaml").stdout).toBe("");
});

// Fault: secrets | a token, webhook secret or config in the checkout | the build context of the image | none gets there
test("an image is built from the packed package only, and nothing else of the folder gets into it", () => {
  const lines = textOf("examples/docker/.dockerignore")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  expect(lines[0]).toBe("*");
  const taken = lines.slice(1).map((line) => line.slice(1));
  expect(lines.slice(1)).toEqual(taken.map((name) => `!${name}`));
  expect(taken).toEqual(["fintoro-mirror-*.tgz"]);
  const [, copied] = /^COPY (?!--from)(\S+) /m.exec(textOf("examples/docker/Dockerfile")) ?? [];
  expect(copied).toBe(taken[0]);
});
