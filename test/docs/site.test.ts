import { existsSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { faultsOfSite, siteLink, type ProjectFiles } from "../../scripts/site/links.ts";
import { pageGroups } from "../../scripts/site/pages.ts";
import { searchEntries } from "../../scripts/site/search-entries.ts";
import { root } from "../support/program/cli.ts";

const sources = pageGroups.flatMap(({ pages }) => pages.map(({ source }) => source));
const project: ProjectFiles = {
  isPage: (file) => sources.includes(file),
  isFile: (file) => existsSync(path.join(root, file)) && statSync(path.join(root, file)).isFile(),
};

describe("the site of the documents", () => {
  test("has every page of docs/ once, and nothing that is not there", () => {
    const pages = readdirSync(path.join(root, "docs")).filter((name) => name.endsWith(".md"));
    expect(sources).toEqual(expect.arrayContaining(pages.map((name) => `docs/${name}`)));
    expect(new Set(sources).size).toBe(sources.length);
    expect(sources.filter((source) => !project.isFile(source))).toEqual([]);
  });

  test("makes of links between Markdown files links between pages, and copies other files", () => {
    expect(siteLink("README.md", "docs/files.md#the-proof", project)).toEqual({
      href: "docs/files.html#the-proof",
      copied: null,
    });
    expect(siteLink("docs/files.md", "../README.md", project).href).toBe("../index.html");
    expect(siteLink("docs/webhooks.md", "../examples/Caddyfile", project)).toEqual({
      href: "../examples/Caddyfile",
      copied: "examples/Caddyfile",
    });
    expect(siteLink("docs/backup.md", "https://litestream.io", project).href).toBe("https://litestream.io");
  });

  test.each(["docs/file.md", "../other/README.md", "examples/", "dosc/files.md#the-proof"])(
    "is not built with a link to %s",
    (href) => {
      expect(() => siteLink("README.md", href, project)).toThrow("README.md: the link");
    },
  );

  test("is not built with a link to a heading that is not there", () => {
    const pages = new Map([
      ["index.html", '<a href="docs/a.html#one">1</a><a href="docs/a.html#two">2</a><a href="#here">3</a>'],
      ["docs/a.html", '<h2 id="one">One</h2><a href="../index.html#none">0</a>'],
    ]);
    expect(faultsOfSite(pages)).toEqual([
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
