import { chownSync, existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import {
  keyFilesOnDisk,
  openPendingKey,
  parseRetiredKeys,
  readKey,
  readPendingKey,
  storePendingKey,
} from "../../src/webhook/keys/key-files.ts";
import { tempFolder } from "../support/temporary-folder.ts";

let hook: string;
let draft: string;

beforeEach(() => {
  hook = join(tempFolder(), "hook");
  draft = `${hook}.new`;
});

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
