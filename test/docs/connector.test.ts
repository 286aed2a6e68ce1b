import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { conforming } from "../support/truth/conforming.ts";
import { blocks, docs } from "../support/docs/docs.ts";
import { smallest } from "../support/connector/smallest-connector.ts";
import { openShop } from "../support/mirror/mirror.ts";
import { stampOf } from "../support/mirror/store.ts";

const page = "docs/write-a-connector.md";

test("the smallest example is a connector: its declaration makes tables that take its records", async () => {
  const example = blocks.find(({ file, language }) => file === page && language === "ts");
  const source = readFileSync(new URL("../support/connector/smallest-connector.ts", import.meta.url), "utf8");
  expect(source).toContain(example?.text ?? "no example");
  const mirror = await openShop({ declaration: smallest });
  const slice = Buffer.from('{"id":7,"code":"A-7","weight":"1.50","updated_at":"2026-11-02T01:00:00+01:00"}');
  const put = () =>
    mirror.apply(() => mirror.table("parcels").put({ stamp: stampOf(mirror), id: 7, slice, source: "list" }));
  expect([put(), put()]).toEqual(["inserted", "unchanged"]);
  expect(mirror.db.prepare("SELECT code, weight FROM parcels").all()).toEqual([{ code: "A-7", weight: 1.5 }]);
});

test("every connector has a folder, a stand-in and a place in the conformance suite", () => {
  const names = conforming.map(({ declaration }) => declaration.name);
  expect(names).toEqual(["fintoro", "fakturoid"]);
  for (const name of names) expect(docs.get(page)).toContain(`connectors/${name}`);
});
