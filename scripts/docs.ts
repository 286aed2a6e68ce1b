import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Eleventy, IdAttributePlugin, type EleventyConfig, type Markdown } from "@11ty/eleventy";
import { faultsOfSite, headingId, siteLink, type ProjectFiles } from "./site/links.ts";
import { pageGroups, targetOf } from "./site/pages.ts";
import { searchEntries } from "./site/search-entries.ts";

/** Builds the documents as a static site into `site/`. A broken link fails it. Usage: `node scripts/docs.ts`. */
const project = fileURLToPath(new URL("..", import.meta.url));
const out = path.join(project, "site");
const sources = pageGroups.flatMap(({ pages }) => pages.map(({ source }) => source));
const files: ProjectFiles = {
  isPage: (file) => sources.includes(file),
  isFile: (file) => existsSync(path.join(project, file)) && statSync(path.join(project, file)).isFile(),
};
const copied = new Set<string>();

/** Links lead to pages of the site; a block that no test runs says why. */
function adapt(markdown: Markdown): void {
  markdown.core.ruler.push("site-links", ({ tokens, env }) => {
    for (const token of tokens) if (token.type === "table_open") token.attrSet("tabindex", "0");
    for (const token of tokens.flatMap(({ children }) => children ?? []))
      for (const name of ["href", "src"]) {
        const written = token.attrGet(name);
        if (written === null) continue;
        const link = siteLink(env.source, written, files);
        token.attrSet(name, link.href);
        if (link.copied !== null) copied.add(link.copied);
      }
  });
  const { fence } = markdown.renderer.rules;
  markdown.renderer.rules["fence"] = (tokens, index, ...rest) => {
    const reason = / not-run (.*)$/.exec(tokens[index]?.info ?? "")?.[1];
    const note = reason === undefined ? "" : `<p class="note">Not run by the tests: ${reason}</p>\n`;
    const block = fence?.(tokens, index, ...rest) ?? "";
    // What is wider than the page is scrolled by keys, too.
    return block.replace("<pre>", '<pre tabindex="0">') + note;
  };
}

function configure(config: EleventyConfig): unknown {
  config.setUseGitIgnore(false);
  config.setTemplateFormats(["md"]);
  config.addPlugin(IdAttributePlugin, { slugify: headingId, selector: "h1,h2,h3,h4" });
  config.amendLibrary("md", adapt);
  for (const source of sources) {
    const text = readFileSync(path.join(project, source), "utf8");
    const target = targetOf(source);
    const root = "../".repeat(target.split("/").length - 1);
    const title = /^# (.*)$/m.exec(text)?.[1]?.replaceAll("`", "") ?? source;
    const language = source === "docs/sk.md" ? "sk" : "en";
    config.addTemplate(source, text, {
      source,
      permalink: target,
      layout: "page.liquid",
      title,
      root,
      language,
      navigation: navigation(source),
    });
  }
  return { markdownTemplateEngine: false };
}

const navigation = (current: string) =>
  pageGroups.map(({ title, pages }) => ({
    title,
    pages: pages.map(({ source, label }) => ({
      label,
      target: targetOf(source),
      isCurrent: source === current,
    })),
  }));

function write(place: string, content: string): void {
  mkdirSync(path.dirname(path.join(out, place)), { recursive: true });
  writeFileSync(path.join(out, place), content);
}

const site = new Eleventy(path.join(project, "scripts/site"), out, {
  quietMode: true,
  configPath: false,
  config: configure,
});
const built = await site.toJSON();
const pages = new Map(
  built.map(({ url, content }) => [url.slice(1).replace(/(^|\/)$/, "$1index.html"), content]),
);
const faults = faultsOfSite(pages);
if (faults.length > 0) throw new Error(faults.join("\n"));
rmSync(out, { recursive: true, force: true });
for (const [place, html] of pages) write(place, html);
for (const file of copied) cpSync(path.join(project, file), path.join(out, file));
for (const name of ["style.css", "search.js"])
  cpSync(path.join(project, "scripts/site", name), path.join(out, name));
write("search-entries.js", `const entries = ${JSON.stringify(searchEntries(pages))};\n`);
process.stdout.write(`${pages.size} pages, ${copied.size} other files in site/\n`);
