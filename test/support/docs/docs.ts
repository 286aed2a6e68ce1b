import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const files = ["README.md", ...readdirSync(path.join(root, "docs")).map((name) => `docs/${name}`)];

/** What users read, by path; `examples/` has tests of its own. */
export const docs: ReadonlyMap<string, string> = new Map(
  files
    .filter((file) => file.endsWith(".md"))
    .map((file) => [file, readFileSync(path.join(root, file), "utf8")]),
);

export interface Block {
  readonly file: string;
  readonly language: string;
  /** The words after the language. */
  readonly marks: readonly string[];
  readonly text: string;
}

/** Fenced blocks, in order; those inside a list lose its indent. */
export const blocks: readonly Block[] = [...docs].flatMap(([file, text]) =>
  [...text.matchAll(/^( *)```(\w+)([^\n]*)\n([\s\S]*?)^\1```$/gm)].map(
    ([, indent = "", language = "", marks = "", body = ""]) => ({
      file,
      language,
      marks: marks.trim().split(" ").filter(Boolean),
      text: body.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
    }),
  ),
);

export const duckShellQueries: readonly string[] = [...docs.values()].flatMap((text) =>
  [...text.matchAll(/\bduckdb -c "([^"\n]+)"/g)].map(([, sql = ""]) => sql),
);

/** SQL marked for `reader`, with the name of the answer that it shares with others, if any. */
export function sqlFor(reader: string): { readonly sql: string; readonly answer: string | null }[] {
  return blocks
    .filter(({ language, marks }) => language === "sql" && marks[0] === reader)
    .map(({ text, marks }) => ({ sql: text.trim(), answer: marks[1] ?? null }));
}

const block = (own: string) =>
  blocks.find(({ marks, text }) => marks[0] === "run-by" && text.includes(own))?.text ?? "";

/** What the page about many machines has DuckDB run first, of reports in this folder: then `of_all(name)` is a table of all companies. */
export function readersOf(folder: string): string {
  return block("SET VARIABLE published").replaceAll("'reports/", `'${folder}/`);
}

export const pageQuery = block("FROM of_all('invoices')").trim().replace(/;$/, "");
