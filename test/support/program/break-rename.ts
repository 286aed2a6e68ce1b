import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/** Loaded before the program: what happens where it would put a file called `hook` in its place. */
const { renameSync } = fs;
fs.renameSync = (from, to) => {
  if (!String(to).endsWith("/hook")) return renameSync(from, to);
  if (process.env["AT_RENAME"] === "SIGKILL") process.kill(process.pid, "SIGKILL");
  throw Object.assign(new Error("EBUSY: resource busy or locked, rename"), { code: "EBUSY" });
};
syncBuiltinESMExports();
