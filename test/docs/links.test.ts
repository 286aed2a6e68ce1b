import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { headingId } from "../../scripts/site/links.ts";
import { root } from "../support/program/cli.ts";

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
const pages = new Map(
  packed
    .filter((file) => file.endsWith(".md"))
    .map((file) => [file, readFileSync(path.join(root, file), "utf8")]),
);
const anchors = new Map(
  [...pages].map(([file, text]) => [
    file,
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => headingId(heading)),
  ]),
);

/** Links of a page to what is not in the package. */
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
