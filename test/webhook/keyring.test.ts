import { renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { Secret } from "../../src/base/secret.ts";
import type { SecretPlace } from "../../src/config/secrets.ts";
import { createKeyring, type KeyringParts } from "../../src/webhook/keys/keyring.ts";
import { keyFilesOnDisk, retireKeys, type KeyFiles } from "../../src/webhook/keys/key-files.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { WoundClock } from "../support/sandbox/sandbox.ts";

const hourMs = 3_600_000;
let clock: WoundClock;
let hook: string;
let retired: string;

beforeEach(() => {
  const folder = tempFolder();
  clock = new WoundClock();
  hook = join(folder, "hook");
  retired = join(folder, "acme.secrets.json");
});

function keyring(secrets: Readonly<Record<string, SecretPlace>>, more: Partial<KeyringParts> = {}) {
  return createKeyring({
    secrets: Object.keys(secrets).map((text) => Secret.of(text)),
    places: Object.values(secrets),
    file: retired,
    clock,
    ...more,
  });
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
function later(step: () => void): void {
  step();
  clock.wind(1000);
}

describe("the keyring", () => {
  test("accepts every secret of the config, each once, and those in its files", () => {
    writeFileSync(hook, "in-the-file-0123\n");
    const { accepted } = keyring({
      one: fromVariable,
      two: { kind: "config" },
      "in-the-file-0123": fromFile(),
    });
    expect(accepted()).toEqual(["one", "two", "in-the-file-0123"]);
    expect(accepted()).toBe(accepted());
  });

  test("without any secret accepts none", () => {
    expect(keyring({}).accepted()).toEqual([]);
  });

  test("does not need a secret that is not available", () => {
    const absent = Secret.absent(new Error("not set"));
    expect(keyring({}, { secrets: [absent], places: [fromVariable] }).accepted()).toEqual([]);
  });

  test("reads a file again when it changed, and says that there is something new", () => {
    writeFileSync(hook, `${old}\n`);
    const { accepted, refresh } = keyring({ [old]: fromFile() });
    clock.wind(1000);
    expect(refresh()).toBe(false);
    later(() => writeFileSync(hook, `${newOne}\n`));
    expect(refresh()).toBe(true);
    expect(accepted()).toEqual([newOne]);
    clock.wind(1000);
    expect(refresh()).toBe(false);
  });

  test("looks at files at most once a second, whoever asks", () => {
    writeFileSync(hook, `${old}\n`);
    let looks = 0;
    const counting: KeyFiles = {
      ...keyFilesOnDisk,
      version: (file) => {
        looks += 1;
        return keyFilesOnDisk.version(file);
      },
    };
    const { refresh } = keyring({ [old]: fromFile() }, { files: counting });
    const first = looks;
    for (let i = 0; i < 1000; i++) refresh();
    clock.wind(999);
    refresh();
    expect(looks).toBe(first);
    clock.wind(1);
    refresh();
    expect(looks).toBe(2 * first);
  });

  // Fault: secrets | the secret's file is removed, emptied or unreadable while `serve` runs | the file | the secret that it held is still accepted
  test.each([
    ["is gone", () => rmSync(hook)],
    ["is empty", () => writeFileSync(hook, "")],
    ["holds two lines", () => writeFileSync(hook, "one\ntwo\n")],
  ])("keeps what a file held while it %s", (_, spoil) => {
    writeFileSync(hook, `${old}\n`);
    const { accepted, refresh } = keyring({ [old]: fromFile() });
    later(spoil);
    expect(refresh()).toBe(false);
    expect(accepted()).toEqual([old]);
  });

  test("keeps what it knows while a file cannot be read, and reads it when it can", () => {
    writeFileSync(hook, `${old}\n`);
    let broken = false;
    const files: KeyFiles = {
      version: (file) => keyFilesOnDisk.version(file),
      read: (file) => {
        if (broken) throw new Error("EIO");
        return keyFilesOnDisk.read(file);
      },
    };
    const { accepted, refresh } = keyring({ [old]: fromFile() }, { files });
    broken = true;
    later(() => writeFileSync(hook, `${newOne}\n`));
    expect([refresh(), accepted()]).toEqual([false, [old]]);
    broken = false;
    clock.wind(1000);
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
  const places = { secrets: [Secret.absent(new Error("too short"))], places: [fromFile()] };
  const { accepted, missing, refresh } = keyring({}, places);
  const problem = `the file ${hook} has fewer than 16 characters: it can be guessed`;
  expect([accepted(), missing()]).toEqual([[], [problem]]);
  later(() => writeFileSync(hook, `${old}\n`));
  expect([refresh(), accepted(), missing()]).toEqual([true, [old], []]);
  later(() => writeFileSync(hook, "short\n"));
  expect([refresh(), accepted(), missing()]).toEqual([false, [old], [problem]]);
});

describe("a retired secret", () => {
  test("is accepted until its time is over, to the millisecond, without a look at any file", () => {
    retireKeys(retired, [old], end(24 * hourMs));
    const { accepted } = keyring({ new: fromVariable });
    expect(accepted()).toEqual(["new", old]);
    clock.wind(24 * hourMs - 1);
    expect(accepted()).toEqual(["new", old]);
    clock.wind(1);
    expect(accepted()).toEqual(["new"]);
  });

  test("without an end stays", () => {
    retireKeys(retired, [old], end(null));
    clock.wind(10_000 * hourMs);
    expect(keyring({}).accepted()).toEqual([old]);
  });

  test("gets the end it was given last; what has ended is forgotten with the next one", () => {
    retireKeys(retired, ["first"], end(hourMs));
    retireKeys(retired, ["second"], end(null));
    retireKeys(retired, ["second"], end(3 * hourMs));
    clock.wind(2 * hourMs);
    retireKeys(retired, ["third"], end(hourMs));
    expect(JSON.parse(keyFilesOnDisk.read(retired))).toEqual({
      retired: [
        { secret: "second", until: "2026-11-20T12:00:00.250Z" },
        { secret: "third", until: "2026-11-20T12:00:00.250Z" },
      ],
    });
  });

  test("without time left is not accepted at all", () => {
    retireKeys(retired, ["leaked"], end(24 * hourMs));
    retireKeys(retired, ["leaked"], end(0));
    expect(keyring({}).accepted()).toEqual([]);
  });

  test("stands in a file that nobody else can read, also when it could before", () => {
    writeFileSync(retired, '{"retired":[]}', { mode: 0o644 });
    retireKeys(retired, [old], end(null));
    expect(statSync(retired).mode & 0o777).toBe(0o600);
  });

  test("is found by a receiver that runs", () => {
    const { accepted, refresh } = keyring({ new: fromVariable });
    later(() => retireKeys(retired, [old], end(hourMs)));
    expect([refresh(), accepted()]).toEqual([true, ["new", old]]);
  });
});

describe("a new secret that is not in its place yet", () => {
  test("is accepted when it was written whole, before and after it is put there", () => {
    writeFileSync(hook, `${old}\n`);
    const { accepted, refresh } = keyring({ [old]: fromFile() });
    later(() => writeFileSync(`${hook}.new`, `${newOne}\n`));
    expect([refresh(), accepted()]).toEqual([true, [newOne, old]]);
    later(() => renameSync(`${hook}.new`, hook));
    refresh();
    expect(accepted()).toEqual([newOne]);
  });

  // Fault: secrets | a new secret's file is cut off | the file beside it | not accepted
  test("says nothing when it was cut off", () => {
    writeFileSync(`${hook}.new`, "new-o");
    expect(keyring({}, { secrets: [], places: [fromFile()] }).accepted()).toEqual([]);
  });
});
