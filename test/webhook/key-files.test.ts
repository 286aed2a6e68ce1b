import { chownSync, existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { Secret } from "../../src/base/secret.ts";
import {
  keyFilesOnDisk,
  openPendingKey,
  parseRetiredKeys,
  readKey,
  readPendingKey,
  retireKeys,
  storePendingKey,
  type KeyFiles,
} from "../../src/webhook/keys/key-files.ts";
import { createKeyring, emptyKeyring } from "../../src/webhook/keys/keyring.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { WoundClock } from "../support/sandbox/sandbox.ts";

let clock: WoundClock;
let hook: string;
let draft: string;
let retired: string;

beforeEach(() => {
  const folder = tempFolder();
  clock = new WoundClock();
  hook = join(folder, "hook");
  draft = `${hook}.new`;
  retired = join(folder, "retired.json");
});

const forever = { nowMs: 0, untilMs: null };

describe("a key file", () => {
  test("that is not there has no version and no key; one that is has the text it holds", () => {
    expect([keyFilesOnDisk.version(hook), readKey(hook), readPendingKey(hook)]).toEqual([null, null, null]);
    writeFileSync(hook, "key-č\n");
    expect(keyFilesOnDisk.read(hook)).toBe("key-č\n");
    expect(keyFilesOnDisk.version(hook)).toEqual(expect.any(String));
    writeFileSync(hook, "key\n");
    expect(readKey(hook)).toBe("key");
  });

  test("gets the key of a finished draft, and the draft is gone", () => {
    writeFileSync(draft, "new-one\n");
    expect(readPendingKey(hook)).toBe("new-one");
    storePendingKey(hook);
    expect([readKey(hook), existsSync(draft)]).toEqual(["new-one", false]);
  });

  test("gets a key that is stored, for its owner only, whatever the draft was before", () => {
    writeFileSync(draft, "left over", { mode: 0o644 });
    expect(openPendingKey(hook).store("key")).toBeNull();
    expect([readKey(hook), existsSync(draft), statSync(hook).mode & 0o777]).toEqual(["key", false, 0o600]);
  });

  test("keeps its owner when the key is replaced", () => {
    writeFileSync(hook, "old\n");
    if (process.getuid?.() === 0) chownSync(hook, 12_345, 12_346);
    const before = statSync(hook);
    openPendingKey(hook).store("new-one");
    expect(statSync(hook)).toMatchObject({ uid: before.uid, gid: before.gid });
  });

  test("has no draft any more once that is discarded, also when somebody else removed it", () => {
    openPendingKey(hook).discard();
    expect(existsSync(draft)).toBe(false);
    const pending = openPendingKey(hook);
    rmSync(draft);
    expect(() => pending.discard()).not.toThrow();
  });
});

test.each([
  ['{"retired":5}', []],
  ["{}", []],
  ['{"retired":[{},{"secret":""},{"secret":5},{"secret":"a"}]}', [{ secret: "a", until: null }]],
])("retired keys in %s: only what is one", (text, keys) => {
  expect(parseRetiredKeys(text)).toEqual(keys);
});

const keyring = (files: KeyFiles = keyFilesOnDisk) =>
  createKeyring({
    secrets: [Secret.of("one")],
    places: [{ kind: "file", path: hook }],
    file: retired,
    clock,
    files,
  });

describe("the keyring", () => {
  test("accepts the config's keys where no file is", () => {
    const { accepted, refresh } = keyring();
    expect([accepted(), refresh()]).toEqual([["one"], false]);
    expect([emptyKeyring.accepted(), emptyKeyring.refresh()]).toEqual([[], false]);
  });

  test("forgets a retired key and a draft when their files are removed", () => {
    retireKeys(retired, ["old"], forever);
    writeFileSync(draft, "new-one\n");
    const { accepted, refresh } = keyring();
    expect(accepted()).toEqual(["new-one", "one", "old"]);
    rmSync(retired);
    rmSync(draft);
    clock.wind(1_000);
    expect([refresh(), accepted()]).toEqual([false, ["one"]]);
  });

  test("reads a file only when it changed, and gives the same array until then", () => {
    writeFileSync(hook, "key\n");
    let reads = 0;
    let isBroken = false;
    const read = (file: string) => {
      reads += 1;
      return keyFilesOnDisk.read(file);
    };
    const version = (file: string) => {
      if (isBroken) throw new Error("EIO");
      return keyFilesOnDisk.version(file);
    };
    const { accepted, refresh } = keyring({ version, read });
    const before = accepted();
    for (isBroken of [false, true]) {
      clock.wind(1_000);
      expect(refresh()).toBe(false);
      expect(accepted()).toBe(before);
    }
    expect(reads).toBe(1);
  });
});
