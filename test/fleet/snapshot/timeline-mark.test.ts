import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { storedMark } from "../../../src/fleet/snapshot/timeline-mark.ts";
import { aFileStore, storeKinds } from "../../support/file-store.ts";

const { signal } = new AbortController();
const key = ".fleet/timeline.json";

test.each(storeKinds)(
  "the mark of a database is read from the store as it was written last: %s",
  async (kind) => {
    const { store } = await aFileStore(kind);
    const mark = storedMark(store);
    expect(await mark.read(signal)).toBeNull();
    for (const beats of [7, 1_000_000]) {
      const written = { number: 2, id: "0b7c6b0e-5d0f-4f43-9b1c-0d1d9a1f7a11", beats };
      await mark.write(written, signal);
      expect(await mark.read(signal)).toEqual(written);
    }
  },
);

test("what no worker wrote in its place is refused, with what to do", async () => {
  const { store, fileOf } = await aFileStore("folder");
  const mark = storedMark(store);
  await mark.write({ number: 1, id: "x", beats: 1 }, signal);
  for (const text of ["", "{}", "[1]", "null"]) {
    writeFileSync(fileOf(key), text);
    await expect(mark.read(signal)).rejects.toMatchObject({
      kind: "config",
      hint: expect.any(String) as string,
    });
  }
});
