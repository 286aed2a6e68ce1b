import { existsSync, mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { openMirror } from "../../../src/state/mirror.ts";
import { memoryFolder } from "../../support/memory-folder.ts";
import { declaration } from "./simulated-declaration.ts";

let folders: string | null = null;
let made = 0;

function inFolders(name: string): string {
  folders ??= mkdtempSync(path.join(memoryFolder(), "fintoro-mirror-simulation-"));
  return path.join(folders, name);
}

export function newFolder(): string {
  return inFolders(String(++made));
}

/** An empty mirror, made once and copied. */
export async function emptyMirror(): Promise<string> {
  const file = inFolders("empty.db");
  if (existsSync(file)) return file;
  (await openMirror(file, declaration)).close();
  return file;
}

/** Removes what all simulations of this process left. */
export function removeSimulations(): void {
  if (folders !== null) rmSync(folders, { recursive: true, force: true });
  folders = null;
}
