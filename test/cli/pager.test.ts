import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { DataStream } from "../../src/cli/console/output.ts";
import { openPager } from "../../src/cli/console/pager.ts";
import { temporaryFolder } from "../support/program/cli.ts";
import { program } from "../support/program/process-env.ts";
import { startOnTerminal } from "../support/terminal/pseudo-terminal.ts";

/** A terminal of 5 rows that keeps what is written. */
function smallTerminal(isTTY = true) {
  const written: string[] = [];
  const terminal: DataStream = {
    isTTY,
    columns: 20,
    rows: 5,
    on: () => undefined,
    write: (text, done) => {
      written.push(text);
      done();
      return true;
    },
  };
  return { terminal, written };
}

const { PATH = "" } = process.env;

async function page(lines: readonly string[], env: Readonly<Record<string, string>>) {
  const { terminal, written } = smallTerminal();
  const pager = openPager({ terminal, env: { PATH, ...env }, isWanted: true });
  const errors: unknown[] = [];
  for (const line of lines) pager?.write(`${line}\n`, (error) => errors.push(error));
  await pager?.end();
  return { written, errors };
}

describe("a pager", () => {
  test("shows at once what fits, and is started for what does not, wrapped lines counted", async () => {
    const file = path.join(temporaryFolder(), "paged");
    const PAGER = `sh -c 'cat > "$0"' ${file}`;
    expect((await page(["a", "b"], { PAGER })).written).toEqual(["a\nb\n"]);
    const long = ["a", "b".repeat(50), "c"];
    expect((await page(long, { PAGER })).written).toEqual([]);
    expect(readFileSync(file, "utf8")).toBe(`${long.join("\n")}\n`);
  });

  test("gets LESS=FRX unless the person has said otherwise", async () => {
    const file = path.join(temporaryFolder(), "paged");
    const PAGER = `sh -c 'cat > /dev/null; echo "$LESS" > "$0"' ${file}`;
    const long = Array.from({ length: 9 }, () => "line");
    await page(long, { PAGER });
    expect(readFileSync(file, "utf8")).toBe("FRX\n");
    await page(long, { PAGER, LESS: "i" });
    expect(readFileSync(file, "utf8")).toBe("i\n");
  });

  test("that ends early is no error for who waits for it", async () => {
    const { terminal } = smallTerminal();
    const pager = openPager({ terminal, env: { PATH, PAGER: "true" }, isWanted: true });
    const codes = new Set<unknown>();
    for (let i = 0; i < 200; i++)
      await new Promise<void>((resolve) => {
        pager?.write(`${"x".repeat(4_000)}\n`, (error) => {
          codes.add(error && "code" in error ? error.code : "taken");
          resolve();
        });
      });
    await pager?.end();
    expect([...codes].filter((code) => code !== "taken")).toEqual(["EPIPE"]);
  });

  test.each([
    ["a dumb terminal", { TERM: "dumb" }],
    ["CI", { CI: "true" }],
    ["PAGER=cat", { PAGER: "cat" }],
    ["an empty PAGER", { PAGER: "" }],
    ["a PAGER that is not there", { PAGER: "no-such-pager -x" }],
    ["no less on PATH", { PATH: "/nowhere" }],
  ])("is not used with %s", (_, env) => {
    const { terminal } = smallTerminal();
    expect(openPager({ terminal, env: { PATH, ...env }, isWanted: true })).toBeNull();
  });

  test("is not used with --no-pager, nor in a pipe", () => {
    const { terminal } = smallTerminal();
    const env = { PATH, PAGER: "sh" };
    expect(openPager({ terminal, env, isWanted: true })).not.toBeNull();
    expect(openPager({ terminal, env, isWanted: false })).toBeNull();
    expect(openPager({ ...smallTerminal(false), env, isWanted: true })).toBeNull();
  });
});

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
