import { existsSync } from "node:fs";

/**
 * Ends this process without a time to do anything, a while after it has opened the mirror in DIE_HOLDING: as a company
 * does whose work exhausts the memory.
 */
const mirror = process.env["DIE_HOLDING"] ?? "";
const dieAfterMs = 2_000;

setInterval(() => {
  if (existsSync(mirror)) setTimeout(() => process.kill(process.pid, "SIGKILL"), dieAfterMs);
}, 100).unref();
