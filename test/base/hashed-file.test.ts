import { open } from "node:fs/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import { parseManifest, writeNewFile } from "../../src/base/files/hashed-file.ts";

// Fault: disk | full, and the file system says so again when the file is closed | /dev/full, and a close that fails | the disk is full, as a MirrorError with a hint
test("a disk that is full is named, also where the file's close fails as well", async () => {
  const handle = await open("/dev/null");
  await handle.close();
  const handles = Object.getPrototypeOf(handle) as typeof handle;
  const closing = vi.spyOn(handles, Symbol.asyncDispose).mockImplementation(async function (
    this: typeof handle,
  ) {
    await this.close();
    throw Object.assign(new Error("EDQUOT: disk quota exceeded, close"), { code: "EDQUOT" });
  });
  onTestFinished(() => closing.mockRestore());
  const parts = (async function* () {
    yield Buffer.alloc(100_000);
  })();
  const full = await writeNewFile("/dev/full", parts).catch((error: unknown) => error);
  expect(closing).toHaveBeenCalledTimes(1);
  expect(full).toBeInstanceOf(MirrorError);
  const hint = "Free some space and run it again. The earlier files are unchanged.";
  const message = "the disk is full: /dev/full";
  expect(full).toMatchObject({ kind: "database", message, hint, retryable: true });
});

test.each([
  [null, false],
  ["{", false],
  ["null", false],
  ["5", false],
  ["[]", false],
  ['{"files":5}', false],
  ['{"files":[null]}', false],
  ['{"files":[["a"]]}', false],
  ['{"files":[{"file":"a","sha256":5}]}', false],
  ['{"files":[{"file":"a"}]}', false],
  ['{"files":[]}', true],
  ['{"files":[{"file":"a","sha256":"b","more":1}]}', true],
])("%s is a manifest only where each file has the texts that are asked for: %s", (text, isOne) => {
  const found = parseManifest<{ files: { file: string; sha256: string }[] }>(text, ["file", "sha256"]);
  expect(found !== null).toBe(isOne);
});
