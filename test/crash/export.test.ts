import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { endOf } from "../support/program/cli.ts";
import { namedFiles, setUpExportCrash, stagedBytes } from "../support/crash/export.ts";

// Fault: process | SIGINT while files are written | a process of `export` | exit 130; the earlier files are complete, and nothing else is left
test("SIGINT exits with 130; the earlier files are complete and nothing else is left", async () => {
  const setup = await setUpExportCrash(30_000);
  expect(await endOf(setup.start(["clients"]))).toMatchObject({ code: 0 });
  const facts = () => ({ names: readdirSync(setup.out), wrong: namedFiles(setup.out)?.wrong });
  expect(facts()).toEqual({ names: ["acme"], wrong: [] });
  setup.change(1);
  const child = setup.start(["clients", "units"]);
  const ended = endOf(child);
  const watch = setInterval(() => {
    if (stagedBytes(setup.out) === null) return;
    clearInterval(watch);
    child.kill("SIGINT");
  }, 1);
  const { code } = await ended.finally(() => clearInterval(watch));
  expect(code).toBe(130);
  expect(facts()).toEqual({ names: ["acme"], wrong: [] });
});
