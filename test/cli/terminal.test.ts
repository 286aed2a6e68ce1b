import { existsSync, readFileSync, symlinkSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { DataStream } from "../../src/cli/console/output.ts";
import { openPager } from "../../src/cli/console/pager.ts";
import { runCommand, temporaryFolder } from "../support/program/cli.ts";
import { program } from "../support/program/process-env.ts";
import { openSandbox } from "../support/sandbox/sandbox.ts";
import { startOnTerminal } from "../support/terminal/pseudo-terminal.ts";

/** A terminal on which nobody writes but the pager. */
const screen: DataStream = { isTTY: true, on: () => undefined, write: () => true };

const { PATH = "" } = process.env;

async function page(lines: readonly string[], env: Readonly<Record<string, string>>) {
  const pager = openPager(screen, { PATH, ...env });
  for (const line of lines) pager?.write(`${line}\n`, () => undefined);
  await pager?.end();
}

describe("a pager", () => {
  test("is started for the first text, gets all of it, and LESS=FRX unless the person has said otherwise", async () => {
    const file = path.join(temporaryFolder(), "paged");
    const PAGER = `sh -c 'cat > "$0"; echo "$LESS" >> "$0"' ${file}`;
    await page([], { PAGER });
    expect(file).not.toSatisfy(existsSync);
    await page(["a", "b"], { PAGER });
    expect(readFileSync(file, "utf8")).toBe("a\nb\nFRX\n");
    await page(["a"], { PAGER, LESS: "i" });
    expect(readFileSync(file, "utf8")).toBe("a\ni\n");
  });

  test("that ends early is no error for who waits for it, and ends who does not write", async () => {
    const pager = openPager(screen, { PATH, PAGER: "true" });
    const gone = new Promise<NodeJS.ErrnoException>((resolve) => void pager?.on("error", resolve));
    const codes = new Set<unknown>();
    for (let i = 0; i < 200; i++)
      await new Promise<void>((resolve) => {
        pager?.write(`${"x".repeat(4_000)}\n`, (error) => {
          codes.add(error && "code" in error ? error.code : "taken");
          resolve();
        });
      });
    expect((await gone).code).toBe("EPIPE");
    await pager?.end();
    expect([...codes].filter((code) => code !== "taken")).toEqual(["EPIPE"]);
  });

  test("is not used in a pipe, at a dumb terminal, with PAGER=cat, without a PAGER, and by --no-pager", async () => {
    expect(openPager({ ...screen, isTTY: false }, { PATH })).toBeNull();
    for (const env of [{ TERM: "dumb" }, { PAGER: "cat" }, { PAGER: "" }])
      expect(openPager(screen, { PATH, ...env })).toBeNull();
    const parts = { terminal: true, env: { PATH, PAGER: "false" } };
    const { code, stdout } = await runCommand(["schema", "--tables", "--no-pager"], parts);
    expect([code, stdout.split("\n").length > 1_000]).toEqual([0, true]);
  });
});

// Fault: process | the pager is not installed | $PAGER, and PATH without less | everything is shown at once
test.each(["PAGER=no-such-pager", "PATH=."])(
  "at a real terminal output is shown at once where %s names no pager",
  async (setting) => {
    const cwd = temporaryFolder();
    symlinkSync("/bin/cat", path.join(cwd, "cat"));
    const line = `export ${setting}; exec '${process.execPath}' '${program}' schema --tables`;
    const terminal = startOnTerminal(line, { cwd, rows: 10 });
    expect(await terminal.ended).toBe(0);
    expect(terminal.shown().split("\n").length).toBeGreaterThan(1_000);
  },
);

// Fault: process | the person ends the pager after its first page | `schema --tables` on a real terminal | the exit code is the command's own
test("at a real terminal long output waits for the person, who may end it at any time", async () => {
  const line = `exec '${process.execPath}' '${program}' schema --tables`;
  const terminal = startOnTerminal(line, { cwd: temporaryFolder(), env: { PAGER: "more" }, rows: 10 });
  await terminal.seen(/--More--/);
  expect(terminal.shown().split("\n").length).toBeLessThan(14);
  terminal.type("q");
  expect(await terminal.ended).toBe(0);
});

// Fault: process | Ctrl-C twice while a pager is open that keeps running | `schema --tables` on a real terminal | the program waits for the pager, which keeps the terminal
test("at a real terminal Ctrl-C belongs to the pager, and leaves none behind", async () => {
  const PAGER = `sh -c 'trap "" INT; read -r first; echo "paging $first"; read -r key < /dev/tty; echo "got $key"'`;
  const line = `exec '${process.execPath}' '${program}' schema --tables`;
  const terminal = startOnTerminal(line, { cwd: temporaryFolder(), env: { PAGER }, rows: 10 });
  await terminal.seen("paging The mirror");
  terminal.type("\u0003");
  await terminal.seen("^C");
  terminal.type("\u0003");
  await terminal.seen("^C^C");
  terminal.type("enough\r");
  expect(await terminal.ended).toBe(0);
  expect(terminal.shown()).toContain("got enough");
  expect(terminal.shown()).not.toContain("stopping");
});

const escape = String.fromCodePoint(27);

/** `sync` of a company whose service answers 60 requests in 2 s, on a real terminal of this width. */
async function startSync(columns: number, env: Readonly<Record<string, string>> = {}) {
  const sandbox = await openSandbox({ records: 120, limit: 60, windowMs: 2_000 });
  const config = `base_url: ${sandbox.url}\nrate_limit: { window: 2s }\ncompanies: { acme: { token: "\${env:T}" } }\n`;
  const cwd = temporaryFolder({ "config.yaml": config });
  const line = `exec '${process.execPath}' '${program}' sync`;
  return startOnTerminal(line, { cwd, columns, rows: 16, env: { T: sandbox.token, ...env } });
}

test("at a real terminal a run shows its plan, the lists, what is provisional and the time left; Ctrl-C ends it with 130", async () => {
  const terminal = await startSync(40, { NO_COLOR: "1" });
  await terminal.seen(/requests to make, .* at 60 in 2s/);
  await terminal.seen(/every list is in; [\d,]+ still/);
  await terminal.seen(/about \d+s left · budget/);
  terminal.type("\u0003");
  expect(await terminal.ended).toBe(130);
  const shown = terminal.shown();
  expect(shown).toMatch(/reading lists: \d+ of \d+ in/);
  const drawn = shown.split(/[\r\n]+/).filter((line) => /still provis|· budget|^acme {2}/.test(line));
  const plain = drawn.map((line) =>
    line.replaceAll(new RegExp(String.raw`${escape}\[\??\d*[A-Za-z]`, "g"), ""),
  );
  expect(Math.max(...plain.map((line) => line.length))).toBeLessThan(40);
  expect(shown).not.toContain(`${escape}[3`);
  expect(shown.lastIndexOf(`${escape}[?25h`)).toBeGreaterThan(shown.lastIndexOf(`${escape}[?25l`));
});
