import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/** Loaded before the program: it is killed where it would put a file called `hook` in its place. */
const { renameSync } = fs;
fs.renameSync = (from, to) => {
  if (String(to).endsWith("/hook")) process.kill(process.pid, "SIGKILL");
  renameSync(from, to);
};
syncBuiltinESMExports();
