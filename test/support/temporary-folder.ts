import { mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { onTestFinished } from "vitest";
import { memoryFolder } from "./memory-folder.ts";

/** A folder of this test alone; it goes with the test. */
export function tempFolder(): string {
  const folder = mkdtempSync(path.join(memoryFolder(), "fintoro-mirror-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
