import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/** A program of this name in a folder for PATH, which writes down how it is called and what it reads. */
export function fakeTool(folder: string, name: string, script = "true") {
  const bin = path.join(folder, "bin");
  const file = path.join(bin, name);
  const calls = path.join(bin, "calls");
  const input = path.join(bin, "input");
  mkdirSync(bin, { recursive: true });
  writeFileSync(file, `#!/bin/sh\necho "$*" >> '${calls}'\ncat > '${input}'\n${script}\n`);
  chmodSync(file, 0o755);
  return {
    folder: bin,
    /** Arguments of each call. */
    calls: () =>
      read(calls)
        .split("\n")
        .filter((line) => line !== ""),
    /** What the last call read. */
    input: () => read(input),
  };
}

function read(place: string): string {
  return existsSync(place) ? readFileSync(place, "utf8") : "";
}
