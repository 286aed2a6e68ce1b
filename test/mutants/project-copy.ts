import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { memoryScratch } from "../support/memory-folder.ts";
import type { PlantedFault } from "./planted-fault.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const notCopied = new Set(["node_modules", ".git", "dist", ".built"]);

/** A copy of the project in which faults are planted, one at a time; it shares the installed packages. */
export function copyProject() {
  const { path: folder, remove } = memoryScratch();
  const isCopied = (place: string) => !notCopied.has(path.relative(root, place));
  cpSync(root, folder, { recursive: true, filter: isCopied });
  symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"));
  return {
    folder,
    /** Plants the fault and returns what takes it out again. */
    plant: (fault: PlantedFault) => {
      const place = path.join(folder, fault.file);
      const text = readFileSync(place, "utf8");
      writeFileSync(place, withFault(fault, text));
      return () => writeFileSync(place, text);
    },
    remove,
  };
}

/** The file's text with the fault. Throws where its place is not there exactly once. */
export function withFault({ id, file, find, replace }: PlantedFault, text: string): string {
  const parts = text.split(find);
  if (parts.length !== 2) throw new Error(`${id}: ${file} has its place ${parts.length - 1} times`);
  return parts.join(replace);
}
