import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import * as prettier from "prettier";
import { declaration } from "../connectors/fintoro/declaration.ts";
import { commands } from "../src/cli/commands/all-commands.ts";
import { renderTable, tableDocs } from "../src/cli/commands/connector-commands.ts";
import { projectFolder } from "../test/tidy/read-source.ts";

/**
 * Writes what docs/ says of the report's views (all of each in views.md, its question in reporting.md) and of options
 * (commands.md).
 */
const head = `# The views of the report

Question, rule and columns of each view. Written by \`npm run views\` from the connector, which
\`npx fintoro-mirror schema --tables\` and Datasette's descriptions come from, too. An amount is an exact
\`DECIMAL\` in Parquet, and a double (REAL) in the report: SQLite knows no DECIMAL.`;
const views = new Set((declaration.views ?? []).map(({ name }) => name));
const shown = tableDocs(declaration).filter(({ table: name }) => views.has(name));
await write("docs/views.md", `${[head, ...shown.map(renderTable)].join("\n\n")}\n`);

const table = ["| view | answers |", "|---|---|"];
for (const { name, question } of declaration.views ?? [])
  table.push(`| [\`${name}\`](views.md#${name}) | ${question} |`);
const reporting = readFileSync(path.join(projectFolder, "docs/reporting.md"), "utf8");
const marked = /(<!-- views -->\n)[^]*?(?=\n- \*\*Amounts)/;
await write("docs/reporting.md", reporting.replace(marked, `$1\n${table.join("\n")}\n`));

const taken = ["| command | option | does |", "|---|---|---|"];
for (const { name, options } of commands)
  for (const { flags, doc } of Object.values(options))
    taken.push(`| \`${name}\` | \`${flags.replaceAll("|", "/")}\` | ${cell(doc)} |`);
const reference = readFileSync(path.join(projectFolder, "docs/commands.md"), "utf8");
const section = /(<!-- options -->\n)[^]*?(?=\n<!-- end -->)/;
await write(
  "docs/commands.md",
  reference.replace(section, (_, mark: string) => `${mark}\n${taken.join("\n")}\n`),
);

function cell(text: string): string {
  return text
    .replaceAll("|", String.raw`\|`)
    .replaceAll(/<(\w)/g, String.raw`\<$1`)
    .replaceAll("*", String.raw`\*`);
}

async function write(file: string, text: string): Promise<void> {
  const target = path.join(projectFolder, file);
  const options = await prettier.resolveConfig(target);
  writeFileSync(target, await prettier.format(text, { ...options, filepath: target }));
}
