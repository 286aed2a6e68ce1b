import path from "node:path";
import type { FileStore } from "./file-store.ts";
import { folderStore } from "./folder-store.ts";
import { openObjectStore, type StoreSurroundings } from "./s3-store.ts";

/** Opens the store at `s3://bucket/prefix`, or in a folder with this mode of its files. Throws as `openObjectStore`. */
export function openStore(address: string, surroundings: StoreSurroundings, mode?: number): FileStore {
  return address.startsWith("s3://")
    ? openObjectStore(address, surroundings)
    : folderStore(path.resolve(address), mode);
}
