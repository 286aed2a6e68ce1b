import { describe, expect, test } from "vitest";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import { commands } from "../../src/cli/commands/all-commands.ts";
import { readCommandLine } from "../../src/cli/program/command-line.ts";
import { tablesOfConnector } from "../../src/store/snapshot/snapshot-tables.ts";
import { blocks, docs } from "../support/docs/docs.ts";
import { examples } from "../support/docs/examples.ts";

/** The program's arguments, up to what belongs to the shell. */
const call = /(?:^|[`\s/])fintoro-mirror(?:\.js)? +([a-z-][^\n`|;>&#]*)/;

/** Lines of shells and crontabs, and what stands between backticks in the text. */
function callsIn(file: string, text: string): string[] {
  const shells = blocks.filter((block) => block.file === file && /^(sh|cron)$/.test(block.language));
  const lines = shells.flatMap((block) => block.text.split("\n")).map((line) => line.replace(/^#.*/, ""));
  const prose = text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, "");
  const spoken = [...prose.matchAll(/`[^`\n]*`/g)].map(([span]) => span);
  return [...lines, ...spoken].flatMap((line) => call.exec(line)?.[1]?.trim() ?? []);
}

/** What a file of the examples passes to the program, in a line of a shell, a unit or a text. */
const exampleCall =
  /(?:bin\/fintoro-mirror\.js|\$MIRROR|run --rm (?:-e \w+ )?mirror|(?:^|`| -- |exec mirror )fintoro-mirror) +([a-z][^\n`|;>#]*)/gm;

function callsInExample([file, text]: readonly [string, string]): (readonly [string, string])[] {
  return [...text.matchAll(exampleCall)].map(([, line = ""]) => [`examples/${file}`, line.trim()]);
}

/** Names in capitals stand for what the reader puts there. */
function argsOf(line: string): string[] {
  const words = line.match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
  return words.map((word) => word.replaceAll(/^["']|["']$/g, "").replace(/^(LOG:SEQ|N)$/, "1"));
}

function commandOf(line: string): string {
  const request = readCommandLine(argsOf(line), commands, "1.2.3");
  return typeof request === "string" ? "text" : request.command.name;
}

function tablesIn(line: string): readonly string[] {
  const request = readCommandLine(argsOf(line), commands, "1.2.3");
  return typeof request !== "string" && request.command.name === "export" ? request.input.args : [];
}

/** Ways of writing that show a form of the command rather than one. */
const isForm = (line: string) => /[…[\]]/.test(line);

const found = [
  ...[...docs].flatMap(([file, text]) => callsIn(file, text).map((line) => [file, line] as const)),
  ...[...examples].flatMap(callsInExample),
];

describe("every command line in what users read and in the examples is one that the program takes:", () => {
  test.each(found.filter(([, line]) => !isForm(line)))("%s: %s", (_, line) => {
    expect(commands.map(({ name }) => name)).toContain(commandOf(line));
  });

  test("the ones that are looked for are found, and are not taken for forms", () => {
    const namesIn = (folder: string) =>
      new Set(
        found.flatMap(([file, line]) => (file.startsWith(folder) && !isForm(line) ? commandOf(line) : [])),
      );
    for (const name of ["check", "sync", "serve", "publish", "export", "webhooks create"])
      expect(namesIn("docs/")).toContain(name);
    const inExamples = ["serve", "sync", "status", "webhooks create", "webhooks list", "fleet add"];
    expect(namesIn("examples/")).toEqual(new Set(inExamples));
    const files = new Set(found.map(([file]) => file));
    expect(files.size).toBeGreaterThan(20);
    for (const file of ["crontab", "systemd/fintoro-mirror.service", "docker/compose.yaml", "Caddyfile"])
      expect(files).toContain(`examples/${file}`);
    expect(found.filter(([, line]) => isForm(line)).length).toBeLessThan(4);
  });

  test("tables and views that an export is asked for are there", () => {
    const known = new Set(tablesOfConnector(declaration).map(({ name }) => name));
    const asked = found.flatMap(([, line]) => (isForm(line) ? [] : tablesIn(line)));
    expect(asked).toContain("v_client_balance");
    expect(asked.filter((name) => !known.has(name))).toEqual([]);
  });
});

/** Words of Markdown without the padding of tables. */
const words = (text: string) => text.replaceAll(/-{2,}/g, "-").replaceAll(/\s+/g, " ");

test("the texts on reporting and views say of each view what the connector says; `npm run views` writes them", () => {
  const reporting = docs.get("docs/reporting.md") ?? "";
  const rows = [...reporting.matchAll(/^\| \[`(v_\w+)`\]\(views\.md#\w+\) +\| (.*?) +\|$/gm)];
  const views = (declaration.views ?? []).map(({ name, question }) => [name, question]);
  expect(rows.map(([, name, question]) => [name, question])).toEqual(views);
  const page = words(docs.get("docs/views.md") ?? "").replaceAll(String.raw`\_`, "_");
  for (const { name, question, doc, columns } of declaration.views ?? []) {
    const section = page.slice(page.indexOf(`## ${name} `)).split(" ## ")[0] ?? "";
    const said = [question, doc, ...columns.flatMap((column) => [`| ${column.name} |`, column.doc])];
    const missing = said.filter((text) => !section.includes(words(text)));
    expect([name, ...missing]).toEqual([name]);
  }
});
