import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { endOf, startProgram } from "../support/program/cli.ts";
import { aClientsFolder, changeMirror } from "./points/publish-scenario.ts";
import { wrongFiles } from "./points/export-scenario.ts";

// Fault: process | SIGINT while files are written | a process of `export` | exit 130; the earlier files are complete, and nothing else is left
test("SIGINT exits with 130; the earlier files are complete and nothing else is left", async () => {
  const cwd = await aClientsFolder(30_000);
  const out = path.join(cwd, "out");
  const start = (...tables: string[]) => startProgram(["export", ...tables, "--out", out], { cwd });
  expect(await endOf(start("clients"))).toMatchObject({ code: 0 });
  const facts = () => ({ names: readdirSync(out), wrong: wrongFiles(out) });
  expect(facts()).toEqual({ names: ["acme"], wrong: [] });
  await changeMirror(cwd, ({ db }) => db.exec("UPDATE clients SET email = hex(randomblob(8))"));
  const child = start("clients", "units");
  const ended = endOf(child);
  const watch = setInterval(() => {
    if (!existsSync(path.join(out, ".acme.export/files"))) return;
    clearInterval(watch);
    child.kill("SIGINT");
  }, 1);
  const { code } = await ended.finally(() => clearInterval(watch));
  expect(code).toBe(130);
  expect(facts()).toEqual({ names: ["acme"], wrong: [] });
});
