import { expect, test } from "vitest";
import { temporaryFolder } from "../support/program/cli.ts";
import { program } from "../support/program/process-env.ts";
import { openSandbox } from "../support/sandbox/sandbox.ts";
import { startOnTerminal } from "../support/terminal/pseudo-terminal.ts";

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
