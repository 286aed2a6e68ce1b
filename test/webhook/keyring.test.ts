import { mkdirSync, rmSync, statSync, writeFileSync, chownSync, existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { hourMs } from "../../src/base/clock.ts";
import { Secret } from "../../src/base/secret.ts";
import type { SecretPlace } from "../../src/config/secrets.ts";
import { createKeyring, emptyKeyring } from "../../src/webhook/keys/keyring.ts";
import {
  keyFiles,
  retireKeys,
  openPendingKey,
  parseRetiredKeys,
  readKey,
  readPendingKey,
  storePendingKey,
} from "../../src/webhook/keys/key-files.ts";
import { errorOf } from "../support/errors.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { DrivenClock } from "../support/virtual/driven-clock.ts";

let clock: DrivenClock;
let hook: string;
/** A new key that is not in its place yet. */
let draft: string;
let retired: string;

beforeEach(() => {
  const folder = tempFolder();
  clock = new DrivenClock();
  hook = join(folder, "hook");
  draft = `${hook}.new`;
  retired = join(folder, "acme.secrets.json");
});

afterEach(() => void vi.restoreAllMocks());

function keyring(
  secrets: Readonly<Record<string, SecretPlace>>,
  more: Partial<Parameters<typeof createKeyring>[0]> = {},
) {
  const known = Object.keys(secrets).map((text) => new Secret(text));
  return createKeyring({ secrets: known, places: Object.values(secrets), file: retired, clock, ...more });
}

const old = "old-0123456789ab";
const newOne = "new-one-0123456789ab";
const fromFile = (): SecretPlace => ({ kind: "file", path: hook });
const fromVariable: SecretPlace = { kind: "environment", name: "HOOK" };

function end(afterMs: number | null) {
  const nowMs = clock.nowMs();
  return { nowMs, untilMs: afterMs === null ? null : nowMs + afterMs };
}

/** A second later, so that the keyring looks again. */
function later(step: () => void = () => undefined): void {
  step();
  clock.wind(1000);
}

describe("the keyring", () => {
  test("accepts every secret of the config that is there, each once, and those in its files", () => {
    const { accepted: inNoFile, refresh } = keyring({ one: fromFile() });
    expect([inNoFile(), refresh()]).toEqual([["one"], false]);
    const absent = new Secret(new Error("not set"));
    const unset = { secrets: [absent, absent], places: [fromVariable, fromFile()] };
    const { accepted: none, missing: problems } = keyring({}, unset);
    expect([none(), problems()]).toEqual([[], ["not set", "not set"]]);
    writeFileSync(hook, "in-the-file-0123\n");
    expect(keyring({}, unset).missing()).toEqual(["not set"]);
    const places = { one: fromVariable, two: { kind: "config" }, "in-the-file-0123": fromFile() } as const;
    const { accepted, missing } = keyring(places);
    expect([accepted(), missing()]).toEqual([["one", "two", "in-the-file-0123"], []]);
    expect(accepted()).toBe(accepted());
    expect([emptyKeyring.accepted(), emptyKeyring.refresh()]).toEqual([[], false]);
  });

  test("looks at files at most once a second, reads one only when it changed, and says what is new", () => {
    writeFileSync(hook, `${old}\n`);
    const [version, read] = [vi.spyOn(keyFiles, "version"), vi.spyOn(keyFiles, "read")];
    const { accepted, refresh } = keyring({ [old]: fromFile() });
    const [first, before] = [version.mock.calls.length, accepted()];
    for (let i = 0; i < 1000; i++) refresh();
    clock.wind(999);
    refresh();
    expect(version).toHaveBeenCalledTimes(first);
    clock.wind(1);
    expect(refresh()).toBe(false);
    expect([version.mock.calls.length, read.mock.calls.length]).toEqual([2 * first, 1]);
    expect(accepted()).toBe(before);
    later(() => writeFileSync(hook, `${newOne}\n`));
    expect([refresh(), accepted()]).toEqual([true, [newOne]]);
    later();
    expect(refresh()).toBe(false);
  });

  // Fault: secrets | the secret's file is removed, emptied or unreadable while `serve` runs | the file | the secret that it held is still accepted
  test.each([
    ["is gone", () => rmSync(hook)],
    ["is empty", () => writeFileSync(hook, "")],
    ["holds two lines", () => writeFileSync(hook, "one\ntwo\n")],
    ["is written again with the same key", () => writeFileSync(hook, old)],
  ])("keeps what a file held while it %s", (_, spoil) => {
    writeFileSync(hook, `${old}\n`);
    const { accepted, refresh } = keyring({ [old]: fromFile() });
    const before = accepted();
    later(spoil);
    expect([refresh(), before]).toEqual([false, [old]]);
    // By the array the receiver knows that keys changed: refusals before that say nothing any more.
    expect(accepted()).toBe(before);
  });

  test.each(["version", "read"] as const)("keeps what it knows while the %s of a file fails", (kind) => {
    writeFileSync(hook, `${old}\n`);
    const { accepted, refresh } = keyring({ [old]: fromFile() });
    const before = accepted();
    const broken = vi.spyOn(keyFiles, kind).mockImplementation(() => {
      throw new Error("EIO");
    });
    later(() => writeFileSync(hook, `${newOne}\n`));
    expect(refresh()).toBe(false);
    expect(accepted()).toBe(before);
    broken.mockRestore();
    later();
    expect([refresh(), accepted()]).toEqual([true, [newOne]]);
  });

  test("gives every secret it reads to the log's redaction", () => {
    writeFileSync(hook, `${old}\n`);
    const learned = new Set<string>();
    const onSecrets = (secrets: readonly string[]) => secrets.forEach((secret) => learned.add(secret));
    const { refresh } = keyring({ [old]: fromFile() }, { onSecrets });
    retireKeys(retired, ["older"], { nowMs: clock.nowMs(), untilMs: null });
    later(() => writeFileSync(hook, `${newOne}\n`));
    refresh();
    expect([...learned].toSorted()).toEqual([newOne, old, "older"]);
  });
});

// Fault: secrets | the secret's file gets one of fewer than 16 characters while `serve` runs | the file | it is named and not accepted; the one before it still is
test("a secret that is too short is named and not accepted, until its file holds a longer one", () => {
  writeFileSync(hook, "short\n");
  const places = { secrets: [new Secret(new Error("too short"))], places: [fromFile()] };
  const { accepted, missing, refresh } = keyring({}, places);
  const problem = `the file ${hook} has fewer than 16 characters: it can be guessed`;
  expect([accepted(), missing()]).toEqual([[], [problem]]);
  later(() => writeFileSync(hook, `${old}\n`));
  expect([refresh(), accepted(), missing()]).toEqual([true, [old], []]);
  later(() => writeFileSync(hook, "short\n"));
  expect([refresh(), accepted(), missing()]).toEqual([false, [old], [problem]]);
  later(() => writeFileSync(hook, "two words\n"));
  expect([refresh(), accepted(), missing()]).toEqual([false, [old], []]);
});

describe("a retired secret", () => {
  test("is found by a receiver that runs, and accepted until its time is over, to the millisecond", () => {
    const version = vi.spyOn(keyFiles, "version");
    const { accepted, refresh } = keyring({ new: fromVariable });
    later(() => retireKeys(retired, [old], end(24 * hourMs)));
    expect([refresh(), accepted()]).toEqual([true, ["new", old]]);
    const looks = version.mock.calls.length;
    clock.wind(24 * hourMs - 1001);
    expect(accepted()).toEqual(["new", old]);
    clock.wind(1);
    expect([accepted(), version.mock.calls.length]).toEqual([["new"], looks]);
  });

  test("gets the end it was given last; what has ended is forgotten with the next one", () => {
    retireKeys(retired, ["first"], end(hourMs));
    retireKeys(retired, ["second"], end(null));
    retireKeys(retired, ["second"], end(3 * hourMs));
    clock.wind(2 * hourMs);
    retireKeys(retired, ["third"], end(hourMs));
    const until = "2026-11-20T12:00:00.250Z";
    const kept = ["second", "third"].map((secret) => ({ secret, until }));
    expect(JSON.parse(keyFiles.read(retired))).toEqual({ retired: kept });
  });

  test("stands in a file that nobody else can read, also when it could before", () => {
    writeFileSync(retired, '{"retired":[]}', { mode: 0o644 });
    retireKeys(retired, [old], end(null));
    expect(statSync(retired).mode & 0o777).toBe(0o600);
  });

  test("is forgotten with its file, and so is a draft", () => {
    retireKeys(retired, [old], end(null));
    writeFileSync(draft, `${newOne}\n`);
    const { accepted, refresh } = keyring({ one: fromFile() });
    expect(accepted()).toEqual([newOne, "one", old]);
    later(() => [retired, draft].forEach((file) => rmSync(file)));
    expect([refresh(), accepted()]).toEqual([false, ["one"]]);
  });
});

// Fault: secrets | a new secret's file is cut off | the file beside it | not accepted
test("a new secret that is not in its place yet says nothing when it was cut off", () => {
  writeFileSync(draft, "new-o");
  expect(keyring({}, { secrets: [], places: [fromFile()] }).accepted()).toEqual([]);
});

describe("a key file", () => {
  test("that is not there has no version and no key; one that is has the text it holds", () => {
    expect([keyFiles.version(hook), readKey(hook), readPendingKey(hook)]).toEqual([null, null, null]);
    writeFileSync(hook, "key-č\n");
    expect(keyFiles.read(hook)).toBe("key-č\n");
    expect(keyFiles.version(hook)).toEqual(expect.any(String));
    for (const text of ["key\n", "key"]) {
      writeFileSync(hook, text);
      expect(readKey(hook)).toBe("key");
    }
  });

  test.each(["two words\n", "key\nmore"])("gets none from a draft with %j", (text) => {
    writeFileSync(draft, text);
    expect(readPendingKey(hook)).toBeNull();
  });

  test("that cannot be opened or replaced gets no key, and it is said why", () => {
    const nowhere = openPendingKey(join(hook, "key"));
    expect(nowhere.store("key")).toContain("ENOENT");
    nowhere.discard();
    mkdirSync(hook);
    expect(openPendingKey(hook).store("key")).toContain("EISDIR");
  });

  test("gets the key of a finished draft, or one that is stored, for its owner only, whatever the draft was before", () => {
    writeFileSync(draft, "new-one\n");
    expect(readPendingKey(hook)).toBe("new-one");
    storePendingKey(hook);
    expect([readKey(hook), existsSync(draft)]).toEqual(["new-one", false]);
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
    expect(draft).not.toSatisfy(existsSync);
    const pending = openPendingKey(hook);
    rmSync(draft);
    expect(() => pending.discard()).not.toThrow();
  });
});

test.each([
  ['{"retired":5}', []],
  ["{}", []],
  ['{"retired":[null,5,{},{"secret":""},{"secret":5},{"secret":"a"}]}', [{ secret: "a", until: null }]],
])("retired keys in %s: only what is one", (text, keys) => {
  expect(parseRetiredKeys(text)).toEqual(keys);
});

test.each(["{", "null"])("a file of retired keys with %s is not written over: it is named", (text) => {
  writeFileSync(retired, text);
  const message = `the file of replaced secrets is damaged: ${retired}`;
  expect(errorOf(() => retireKeys(retired, ["old"], end(null)))).toMatchObject({ kind: "database", message });
  expect(keyFiles.read(retired)).toBe(text);
});
