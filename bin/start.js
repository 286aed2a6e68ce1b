"use strict";
// The built program, or the source of a fresh checkout. Node strips types outside node_modules only.
const { existsSync, lstatSync, mkdirSync } = require("node:fs");
const { enableCompileCache } = require("node:module");
const { homedir } = require("node:os");
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");
const { setFlagsFromString } = require("node:v8");

/**
 * Keeps V8's compiled code in the user's own cache folder: the program starts faster. V8 trusts what it finds
 * there, so a folder that others may write is not used; without a usable folder nothing is kept.
 */
function keepCompiledCode() {
  try {
    const folder = join(
      process.env.XDG_CACHE_HOME || join(homedir(), ".cache"),
      "fintoro-mirror",
      "compiled",
    );
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = lstatSync(folder);
    const isOwn = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
    if (isOwn) enableCompileCache(folder);
  } catch {
    // a home that is not there or cannot be written
  }
}

/** Modules of Node that every command imports. */
const modulesOfAll = [
  "assert",
  "buffer",
  "child_process",
  "crypto",
  "fs",
  "fs/promises",
  "net",
  "process",
  "stream/consumers",
  "util",
  "worker_threads",
];

/**
 * Until the command is loaded: src/cli/program/own-process.ts says why, and lets it go. Only for runs. With other flags than
 * its own Node has to compile its modules, 30 ms, so these are loaded before, with those parts that are modules of their
 * own. A Node that was not tried may not know these flags, and V8 writes an error for each.
 */
function holdHeap() {
  if (!process.argv.includes("sync") || !/^2[24]\./.test(process.versions.node)) return;
  for (const name of modulesOfAll) Object.values(require(`node:${name}`));
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--no-parallel-scavenge");
  setFlagsFromString("--heap-growing-percent=30");
}

// Node would open its inspector; src/main.ts says the same to those who start it without this file.
process.on("SIGUSR1", () => undefined);
// The compiled code of a held heap is kept apart: V8 takes none that was made with other flags.
holdHeap();
keepCompiledCode();
const built = join(__dirname, "..", "dist", "main.js");
const source = join(__dirname, "..", "src", "main.ts");
module.exports = import(pathToFileURL(existsSync(built) ? built : source).href);
