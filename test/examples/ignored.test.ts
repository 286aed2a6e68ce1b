import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { root, temporaryFolder } from "../support/program/cli.ts";

const textOf = (name: string) => readFileSync(path.join(root, name), "utf8");

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
  expect(
    git("check-ignore", ...secrets)
      .stdout.trim()
      .split("\n"),
  ).toEqual(secrets);
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
