import { describe, expect, test } from "vitest";
import { testTitles } from "./fault-matrix.ts";
import { projectText, readProject } from "./read-source.ts";

const page = projectText("SECURITY.md");
const titles = new Map(readProject(["test"]).map((source) => [source.path, testTitles(source)]));
const named = [...page.matchAll(/^ {2}- `(test\/[\w./-]+\.ts)`: `(.+)`$/gm)];
/** Everything between the assets and what is not protected. */
const [, claims = ""] = /^## Supported versions$([\s\S]+)^## What is not protected today$/m.exec(page) ?? [];

describe("SECURITY.md", () => {
  test("names only tests that exist, each by its whole title", () => {
    expect(named.length).toBeGreaterThan(50);
    const missing = named.filter(([, file = "", title = ""]) => !titles.get(file)?.includes(title));
    expect(missing.map(([line]) => line)).toEqual([]);
  });

  test("has a test for each claim, and no line that only looks like one", () => {
    const items = claims.split(/^- /m).slice(1);
    expect(items.length).toBeGreaterThan(30);
    expect(items.filter((item) => !/^ {2}- `test\//m.test(item))).toEqual([]);
    expect(page.match(/^ {2}- /gm)).toHaveLength(named.length);
  });

  test.each(["How to report", "Supported versions", "What is not protected today", "Out of scope"])(
    "says: %s",
    (heading) => {
      expect(page).toContain(`\n## ${heading}\n`);
    },
  );
});
