import { onTestFinished } from "vitest";
import { memoryScratch } from "./memory-folder.ts";

/** A folder of this test alone; it goes with the test. */
export function tempFolder(): string {
  const folder = memoryScratch();
  onTestFinished(() => folder.remove());
  return folder.path;
}
