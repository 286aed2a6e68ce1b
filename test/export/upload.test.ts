import path from "node:path";
import { describe, expect, test } from "vitest";
import type { ExportRequest } from "../../src/export/plan/export-request.ts";
import { uploadExport } from "../../src/export/upload-export.ts";
import { ownRight, readText, type FileStore } from "../../src/file-store/file-store.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { ann, aShop, exportOf } from "../support/export/export.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { aFileStore } from "../support/file-store.ts";
import { put } from "../support/mirror/store.ts";

const { signal } = new AbortController();
const textOf = (store: FileStore, key: string) => readText(store, key, signal);

async function upload(mirror: Mirror, store: FileStore, request: Partial<ExportRequest> = {}) {
  const out = path.join(tempFolder(), "out");
  const exported = await exportOf(mirror, { ...request, out });
  return uploadExport(store, out, exported, ownRight(signal));
}

/** A store that takes no file whose name ends like this. */
function cutOffAt(end: string, store: FileStore): FileStore {
  const putUnless: FileStore["put"] = (key, ...rest) =>
    key.endsWith(end) ? Promise.reject(new Error("cut off")) : store.put(key, ...rest);
  return { ...store, put: putUnless };
}

describe("an upload", () => {
  test("puts every file, the manifest last, and removes what no longer belongs", async () => {
    const mirror = await aShop();
    const store = (await aFileStore("s3")).store;
    const first = await upload(mirror, store, { format: "jsonl" });
    expect(first.written).toHaveLength(10);
    expect(first.written.at(-1)).toBe("acme/manifest.json");
    expect(await textOf(store, "acme/people.jsonl")).toContain('"Ann"');
    const second = await upload(mirror, store, { format: "jsonl", partition: "year", tables: ["people"] });
    const written = ["company=acme/people/part-0.jsonl", "acme/manifest.json"];
    expect(second).toEqual({ written, unchanged: [], removed: ["acme/people.jsonl"] });
    expect(await textOf(store, "acme/people.jsonl")).toBeNull();
    const manifest = JSON.parse((await textOf(store, "acme/manifest.json")) ?? "") as {
      files: { file: string }[];
    };
    expect(manifest.files).toHaveLength(9);
    const named = manifest.files.map(({ file }) => path.posix.join("acme", file));
    expect(await store.list("", signal)).toEqual(expect.arrayContaining(named));
  });

  test("sends only files that changed since the last one", async () => {
    const mirror = await aShop();
    const store = (await aFileStore("folder")).store;
    await upload(mirror, store, { tables: ["people", "orders"] });
    put(mirror, "people", { ...ann, id: 2, name: "Bob" });
    const { written, unchanged } = await upload(mirror, store, { tables: ["people", "orders"] });
    expect(written).toEqual(["acme/people.csv", "acme/manifest.json"]);
    expect(unchanged).toEqual(["acme/orders.csv"]);
  });

  // Fault: network | an upload that fails | the object store's client | the earlier manifest stays, and no part of a file
  test("that fails leaves the earlier manifest and no part of a file", async () => {
    const mirror = await aShop();
    const real = (await aFileStore("folder")).store;
    await upload(mirror, real, { tables: ["people"] });
    const before = await textOf(real, "acme/manifest.json");
    put(mirror, "people", { ...ann, id: 2, name: "Bob" });
    const failing = upload(mirror, cutOffAt(".csv", real), { tables: ["people"] });
    await expect(failing).rejects.toThrow("cut off");
    expect(await textOf(real, "acme/manifest.json")).toBe(before);
    expect(await textOf(real, "acme/people.csv")).not.toContain("Bob");
  });
});

// Fault: network | an upload is interrupted, and the mirror returns to the state of the manifest | the object store's client | what the manifest names is sent again
test("an upload after an interrupted one sends again what that one may have replaced", async () => {
  const mirror = await aShop();
  const real = (await aFileStore("folder")).store;
  await upload(mirror, real, { tables: ["people"] });
  const before = await textOf(real, "acme/people.csv");
  put(mirror, "people", { ...ann, name: "Bob" });
  const interrupted = upload(mirror, cutOffAt("manifest.json", real), { tables: ["people"] });
  await expect(interrupted).rejects.toThrow("cut off");
  expect(await textOf(real, "acme/people.csv")).toContain("Bob");
  put(mirror, "people", ann);
  await upload(mirror, real, { tables: ["people"] });
  expect(await textOf(real, "acme/people.csv")).toBe(before);
  expect(await real.list("acme/", signal)).toEqual(["acme/manifest.json", "acme/people.csv"]);
});
