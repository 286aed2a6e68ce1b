import { describe, expect, test } from "vitest";
import type { Fault } from "../../connectors/fintoro/sandbox/faults/service-fault.ts";
import { get, openSandbox, type Dict } from "../support/sandbox/sandbox.ts";

const faulty = (fault: Fault) => openSandbox({ faults: [fault] });

function paginator(heard: { readonly json: Dict }): Dict {
  return heard.json["paginator"] as Dict;
}

describe("lists that lie", () => {
  test("nothing with 200, while the paginator still counts", async () => {
    const heard = await get(await faulty({ kind: "empty_list" }), "/invoices");
    expect([heard.status, heard.data]).toEqual([200, []]);
    expect(paginator(heard)["totalResults"]).toBe(31);
  });

  test("another page than asked, a next page without end, totals that change", async () => {
    expect(paginator(await get(await faulty({ kind: "wrong_page" }), "/invoices"))["currentPage"]).toBe(2);
    const endless = paginator(await get(await faulty({ kind: "endless_pages" }), "/invoices?page=90"));
    expect(endless["totalPages"]).toBe(91);
    expect(endless["nextPageUrl"]).toContain("page=91");
    const sandbox = await faulty({ kind: "changing_totals" });
    const totals = [];
    for (let i = 0; i < 4; i++) totals.push(paginator(await get(sandbox, "/invoices"))["totalResults"]);
    expect(new Set(totals)).toEqual(new Set([31, 32]));
  });

  test("a record twice", async () => {
    const { data } = await get(await faulty({ kind: "duplicate_ids" }), "/invoices");
    expect(data[0]).toEqual(data[1]);
    expect(data).toHaveLength(11);
  });

  test("ties in another order each time, so that pages overlap; all else in order", async () => {
    const sandbox = await openSandbox({ records: 4_000, faults: [{ kind: "shuffled_ties" }] });
    const page = async () => (await get(sandbox, "/invoices?perPage=500&page=2")).data;
    const [once, again] = [await page(), await page()];
    expect(once.map(({ id }) => id)).not.toEqual(again.map(({ id }) => id));
    const dates = once.map(({ issueDate }) => String(issueDate));
    expect(dates).toEqual(dates.toSorted().toReversed());
  });
});

/** A list under a fault: as text, and its first record. */
async function first(fault: Fault): Promise<{ readonly text: string; readonly record: Dict }> {
  const heard = await get(await faulty(fault), "/invoices");
  return { text: heard.text, record: heard.data[0] ?? {} };
}

/** One record's id becomes text. */
function quotedId({ id }: Dict, text: string): string {
  return id === 501 ? text.replace('"id":501', '"id":"501"') : text;
}

describe("records that surprise", () => {
  test("without an id", async () => {
    expect((await first({ kind: "missing_ids" })).record).not.toHaveProperty("id");
  });

  test("with ids that are the same number as doubles", async () => {
    const { text } = await first({ kind: "huge_ids" });
    const ids = [...text.matchAll(/\{"id":(9007199254\d+),"uuid"/g)].map(([, id]) => BigInt(id ?? 0));
    expect(ids).toHaveLength(10);
    for (const id of ids) expect(id > 2n ** 53n).toBe(true);
    expect(new Set(ids).size).toBe(10);
  });

  test("with values and fields of another version, and without some of this one", async () => {
    expect((await first({ kind: "unknown_values" })).record).toMatchObject({
      type: "brand_new_value",
      status: "brand_new_value",
    });
    expect((await first({ kind: "unknown_fields" })).record).toMatchObject({
      brandNewField: { deep: [1, "ň", null] },
    });
    expect((await first({ kind: "missing_fields" })).record).not.toHaveProperty("number");
  });

  test("with a __proto__ of their own", async () => {
    const { record } = await first({ kind: "proto_key" });
    expect(Object.keys(record)).toContain("__proto__");
    expect(({} as Dict)["polluted"]).toBeUndefined();
  });

  test("with numbers that only text keeps", async () => {
    const { text } = await first({ kind: "number_literals" });
    for (const literal of [
      "9007199254740993",
      '"total":1e3',
      '"totalWithVat":0.10',
      "0.1000000000000000055511151231257827",
    ]) {
      expect(text).toContain(literal);
    }
  });

  test("written anew by a function, in lists and alone", async () => {
    const sandbox = await faulty({ kind: "rewrite", rewrite: quotedId });
    expect((await get(sandbox, "/invoices?perPage=500")).text).toContain('"id":"501"');
    expect((await get(sandbox, "/invoices/501")).json["id"]).toBe("501");
    expect((await get(sandbox, "/invoices/500")).json["id"]).toBe(500);
  });
});
