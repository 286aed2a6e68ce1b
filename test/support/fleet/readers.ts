import { blocks } from "../docs/docs.ts";

const block = (own: string) =>
  blocks.find(({ marks, text }) => marks[0] === "run-by" && text.includes(own))?.text ?? "";

/** What the page about many machines has DuckDB run first, of reports in this folder. */
export function readersOf(folder: string): string {
  return block("SET VARIABLE published").replaceAll("'reports/", `'${folder}/`);
}

/** A table or view of all companies in SQL, after `readersOf`. */
export function ofAll(name: string): string {
  return `of_all('${name}')`;
}

/** The query of that page. */
export const pageQuery = block("FROM of_all('invoices')").trim().replace(/;$/, "");
