import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { temporaryFolder } from "./cli.ts";

/** A program of this name in a folder for PATH, which writes down how it is called, and runs a script of `sh`. */
export function fakeTool(name: string, script = "") {
  const folder = temporaryFolder();
  const at = (file: string) => path.join(folder, file);
  writeFileSync(at(name), `#!/bin/sh\necho "$*" >> '${at("calls")}'\n${script}\n`, { mode: 0o755 });
  const read = (file: string) => (existsSync(at(file)) ? readFileSync(at(file), "utf8") : "");
  return {
    PATH: `${folder}:${process.env["PATH"]}`,
    calls: () => read("calls").split("\n").filter(Boolean),
    /** What the script has put into `input`, in its own folder. */
    input: () => read("input"),
  };
}
