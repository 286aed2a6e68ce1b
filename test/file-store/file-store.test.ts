import { hash } from "node:crypto";
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { MirrorError } from "../../src/base/errors.ts";
import type { ContentFacts } from "../../src/base/files/hashed-file.ts";
import { fetchChecked, putChecked, readText, type FileStore } from "../../src/file-store/file-store.ts";
import { openStore } from "../../src/file-store/open-store.ts";
import { rejectionOf } from "../support/errors.ts";
import { aFileStore, aRight, storeKinds } from "../support/file-store.ts";
import { tempFolder } from "../support/temporary-folder.ts";

const signal = new AbortController().signal;

/** More than one part of an upload. */
const large = Buffer.alloc(8_100_000, "0123456789");

function aFile(content: string | Buffer): string {
  const file = path.join(tempFolder(), "data.parquet");
  writeFileSync(file, content);
  return file;
}

async function readAll(store: FileStore, key: string): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of store.read(key, signal)) parts.push(part);
  return Buffer.concat(parts);
}

const damaged = () => new MirrorError("database", "damaged");

describe.each(storeKinds)("a store: %s", (kind) => {
  test("gives back what was put, lists it below its folder only, and removes it", async () => {
    const { store } = await aFileStore(kind);
    const right = aRight();
    for (const key of ["acme/e1/a.db", "acme/e2/b.db", "acme2/e1/a.db"])
      await store.put(key, aFile(`of ${key}`), right);
    expect((await store.list("acme/", signal)).toSorted()).toEqual(["acme/e1/a.db", "acme/e2/b.db"]);
    expect(String(await readAll(store, "acme/e2/b.db"))).toBe("of acme/e2/b.db");
    await store.remove("acme/e1/a.db", right);
    await store.remove("acme/e1/a.db", right);
    expect(await store.list("acme/", signal)).toEqual(["acme/e2/b.db"]);
    expect(await store.list("nobody/", signal)).toEqual([]);
    expect((await store.folders("", signal)).toSorted()).toEqual(["acme", "acme2"]);
    expect(await store.folders("acme/", signal)).toEqual(["e2"]);
    expect(await store.folders("nobody/", signal)).toEqual([]);
    const message = expect.stringContaining("acme/e1/a.db") as string;
    const lost = { kind: "not_found", retryable: false, message };
    expect(await rejectionOf(readAll(store, "acme/e1/a.db"))).toMatchObject(lost);
  });

  test("removes all of a folder, and nothing beside it", async () => {
    const { store } = await aFileStore(kind);
    for (const key of ["acme/1/a", "acme/1/deep/er/b", "acme/10/c"])
      await store.put(key, aFile(key), aRight());
    await store.remove("acme/1/", aRight());
    await store.remove("acme/1/", aRight());
    expect(await store.list("", signal)).toEqual(["acme/10/c"]);
    expect(await store.folders("acme/", signal)).toEqual(["10"]);
  });

  test("stores bytes and files of any size, each as a whole in place of the last one, says what was sent, and reads it back", async () => {
    const { store, fileOf } = await aFileStore(kind);
    const put = async (content: Buffer, given: Buffer | string = content) => {
      const sent = await putChecked(store, "acme/data", given, aRight());
      expect(sent).toEqual({ size_bytes: content.length, sha256: hash("sha256", content) });
      expect(await store.list("acme/", signal)).toEqual(["acme/data"]);
      return sent;
    };
    const text = Buffer.from("a text");
    await put(text);
    await put(large, aFile(large));
    const target = path.join(tempFolder(), "fetched");
    const fetch = (key: string, expected: ContentFacts) =>
      fetchChecked(store, key, expected, target, signal, damaged);
    await fetch("acme/data", await put(large));
    expect(readFileSync(target).equals(large)).toBe(true);
    const expected = await put(text, aFile(text));
    expect(await readText(store, "acme/data", signal)).toBe("a text");
    expect(await readText(store, "acme/other", signal)).toBeNull();
    writeFileSync(fileOf("acme/data"), "x", { flag: "a" });
    for (const key of ["acme/data", "acme/other"])
      await expect(fetch(key, expected)).rejects.toThrow("damaged");
  });

  // Fault: fleet | the ownership ends before or while something is written | the right to write, at each of its checks | nothing is replaced or removed, and no part of a file is left to be read
  test("writes and removes nothing without the right to, at whichever check it was lost", async () => {
    const { store } = await aFileStore(kind);
    await store.put("acme/data", aFile("before"), aRight());
    const counted = aRight();
    await store.put("acme/other", aFile(large), counted);
    expect(counted.asked()).toBeGreaterThan(1);
    for (let at = 1; at <= counted.asked(); at++) {
      const right = aRight();
      const losing = {
        ...right,
        assertHeld: () => {
          if (right.asked() + 1 === at) right.lose();
          right.assertHeld();
        },
      };
      await expect(store.put("acme/data", aFile(large), losing)).rejects.toThrow(/another owner|interrupted/);
      expect(right.asked()).toBe(at);
    }
    const lost = aRight();
    lost.lose();
    await expect(store.remove("acme/data", lost)).rejects.toThrow(/another owner|interrupted/);
    expect(String(await readAll(store, "acme/data"))).toBe("before");
  });

  test("breaks off a transfer when its right ends, and says that it was stopped", async () => {
    const { store } = await aFileStore(kind);
    const { signal: ending, lose } = aRight();
    const unchecked = { signal: ending, assertHeld: () => undefined };
    const putting = store.put("acme/data", aFile(Buffer.alloc(60_000_000, "x")), unchecked);
    setImmediate(lose);
    expect((await rejectionOf(putting)).kind).toBe("stopped");
    expect((await store.list("acme/", signal)).length).toBe(0);
  });
});

test("a folder gives files their mode, and folders to whom their files may be read", async () => {
  const { store, fileOf } = await aFileStore("folder");
  const [own, open] = [aFile("own"), aFile("open")];
  chmodSync(own, 0o600);
  chmodSync(open, 0o640);
  await store.put("snapshots/own", own, aRight());
  await store.put("reports/open", open, aRight());
  const modeOf = (key: string) => (statSync(fileOf(key)).mode & 0o777).toString(8);
  expect([modeOf("snapshots"), modeOf("snapshots/own")]).toEqual(["700", "600"]);
  expect([modeOf("reports"), modeOf("reports/open")]).toEqual(["750", "640"]);
});

// Fault: fleet | a node was killed while it wrote to the folder that all share | the unfinished file | the next one replaces it
test("a folder in which a write was cut off takes the next one", async () => {
  const { store, fileOf } = await aFileStore("folder");
  await store.put("acme/data", aFile("before"), aRight());
  const cutOff = `${fileOf("acme/data")}.0a1b2c3d.partial`;
  writeFileSync(cutOff, "cut o");
  await store.put("acme/data", aFile("after"), aRight());
  expect(readFileSync(fileOf("acme/data"), "utf8")).toBe("after");
  // Another node may be writing it.
  expect(cutOff).toSatisfy(existsSync);
});

// Fault: fleet | two nodes write the same file at the same time | a folder that both share | it is one of both, whole
test("a file that several nodes write at the same time is whole", async () => {
  const one = await aFileStore("folder");
  const twin = openStore(one.store.address, { clock: systemClock, env: {}, onSecrets: () => undefined });
  const contents = ["a", "b"].map((letter) => letter.repeat(300_000));
  for (let round = 0; round < 10; round++) {
    const write = (store: FileStore, i: number) => store.put("mark", aFile(contents[i] ?? ""), aRight());
    await Promise.all([one.store, twin].map(write));
    expect(contents).toContain(readFileSync(one.fileOf("mark"), "utf8"));
  }
});

// Fault: fleet | a node removes the last file of a folder while another node writes the first one | a folder that both share | both succeed
test("a folder that another node removes because it was empty is made again", async () => {
  const { store } = await aFileStore("folder");
  const file = aFile("{}");
  const node = async (name: string) => {
    for (let round = 0; round < 20; round++) {
      await store.put(`.nodes/${name}`, file, aRight());
      await store.remove(`.nodes/${name}`, aRight());
    }
  };
  await Promise.all(["one", "two", "three"].map(node));
  expect(await store.list(".nodes/", signal)).toEqual([]);
});

// Fault: fleet | the shared folder cannot be written | a file in its place | an error that may pass, with the key and what to check
test("a folder that cannot be written is an error that may pass", async () => {
  const store = openStore(aFile("no folder"), { clock: systemClock, env: {}, onSecrets: () => undefined });
  const error = await rejectionOf(store.put("acme/data", aFile("x"), aRight()));
  expect([error.kind, error.retryable]).toEqual(["database", true]);
  expect(error.message).toContain("acme/data: a file is where a folder belongs");
  expect(error.hint).toContain("mounted");
});
