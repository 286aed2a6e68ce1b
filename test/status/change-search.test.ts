import { describe, expect } from "vitest";
import { searchChanges, type ChangeQuestion } from "../../src/status/page/page-facts.ts";
import { searchBody } from "../../src/status/page/history-parts.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { openShop } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { person } from "../support/mirror/shop-records.ts";
import { put, remove } from "../support/mirror/store.ts";

const search = (mirror: Mirror, question: Partial<ChangeQuestion> = {}) =>
  searchChanges(mirror.db, { text: "", resource: null, beforeSeq: null, ...question });

async function bodyOf(mirror: Mirror) {
  const question = { text: "", resource: null, beforeSeq: null };
  const moment = { nowMs: Date.UTC(2026, 10, 21), timeZone: "UTC" };
  return searchBody("acme", question, await search(mirror, question), ["people"], moment);
}

describe("a search in the change log", () => {
  test("finds by text of the record before or after, by id and by resource, the newest first", async () => {
    const mirror = await openShop();
    put(mirror, "people", person(1, "Kováč"));
    put(mirror, "people", person(2, "Mlyn"));
    put(mirror, "people", person(1, "Píla"));
    remove(mirror, "people", 2);
    const found = async (question: Partial<ChangeQuestion>) =>
      (await search(mirror, question)).changes.map(({ op, recordId }) => `${op} ${recordId}`);
    expect(await found({})).toEqual(["delete 2", "update 1", "insert 2", "insert 1"]);
    expect(await found({ text: "kováč" })).toEqual(["update 1", "insert 1"]);
    expect(await found({ text: " 2 " })).toEqual(["delete 2", "insert 2"]);
    expect(await found({ text: "%' OR 1=1 --" })).toEqual([]);
    expect(await found({ resource: "orders" })).toEqual([]);
  });

  test("names the fields that differ, with what they held and hold", async ({ mirror }) => {
    put(mirror, "people", person(1, "Kováč"));
    put(mirror, "people", person(1, "Píla"));
    const { text } = await bodyOf(mirror);
    expect(text).toMatch(/people 1<[^]*Píla<[^]*<code>name<\/code> <del>Kováč<\/del>[^]*<ins>Píla<\/ins>/);
    expect(text.match(/<del>/g)).toHaveLength(1);
  });

  test("looks at a bounded number at a time, and says where to go on", async ({ mirror }) => {
    for (let id = 1; id <= 70; id++) put(mirror, "people", person(id, `P${id}`));
    const seen: number[] = [];
    let beforeSeq: number | null = null;
    do {
      const { changes, nextSeq } = await search(mirror, { beforeSeq });
      seen.push(...changes.map(({ seq }) => seq));
      beforeSeq = nextSeq;
    } while (beforeSeq !== null && seen.length <= 70);
    expect(seen).toEqual(Array.from({ length: 70 }, (_, i) => 70 - i));
  });

  test("goes on before the numbers that a restore left out", async ({ mirror }) => {
    put(mirror, "people", person(1, "Kováč"));
    mirror.meta.set("log", { id: "b2", from: 1, first: 28_000_000_000_000 });
    mirror.close();
    const restored = await openShop({ path: mirror.db.name });
    for (let id = 2; id <= 40; id++) put(restored, "people", person(id, "Mlyn"));
    const found = await search(restored, { text: "kováč" });
    expect(found).toMatchObject({ changes: [{ recordId: 1 }], nextSeq: null, searched: 40 });
  });
});
