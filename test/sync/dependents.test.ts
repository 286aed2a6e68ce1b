import { describe, expect } from "vitest";
import type { InvalidationRule, ConnectorDeclaration } from "../../src/connector/connector-declaration.ts";
import type { WorkItem } from "../../src/state/work-item.ts";
import type { Resource } from "../../src/connector/resource.ts";
import type { RunContext } from "../../src/sync/context/run-context.ts";
import { queueDependents } from "../../src/sync/plan/dependents.ts";
import { declarationOf, openHasty, resourceOf } from "../support/mirror/mirror.ts";
import { test as shopTest } from "../support/mirror/shop-test.ts";
import { note, order, person } from "../support/mirror/shop-records.ts";
import { put, putPreview, remove, texts } from "../support/mirror/store.ts";
import { answerTo, detail, leased, page, runContextOf, waiting } from "../support/mirror/run.ts";

const ofPerson = { kind: "column", column: "person_id" } as const;
const ofColour = { kind: "column", column: "colour_id" } as const;
/** Orders name a person by a kind and an id. */
const pointing = { kind: "pointing", column: "number", is: "person", idColumn: "colour_id" } as const;
const ofLines = { kind: "parts", field: "lines", key: "id" } as const;
const rules: readonly InvalidationRule[] = [
  { resource: "notes", dependent: "orders", by: ofPerson },
  { resource: "people", dependent: "orders", by: { ...pointing, shows: { remark: "name" } } },
  { resource: "orders", dependent: "notes", announced: true, by: ofLines },
  { resource: "orders", dependent: "colours", by: ofColour },
];

const declaration: ConnectorDeclaration = { ...declarationOf(), cascades: [], invalidationRules: rules };

async function aRun(
  invalidationRules = rules,
  resources: readonly Resource[] = declaration.resources,
): Promise<RunContext> {
  return runContextOf(await openHasty({ declaration: { ...declaration, resources, invalidationRules } }));
}

const test = shopTest.extend("run", () => aRun());

/** A leased read of a record that a list or the scrub queued now. */
function work(run: RunContext, resource: string, id: number, reason: string): WorkItem {
  const lane = reason === "scrub" ? "scrub" : "hydration";
  return leased(run, { kind: "detail", resource, target: `id:${id}`, lane, reason });
}

type Identified = Readonly<Record<string, unknown>> & { readonly id: number };

/** Such a read, and its answer. */
function readNow(run: RunContext, resource: string, record: Identified, reason: string): void {
  detail(run, resource, record, work(run, resource, record.id, reason));
}

function hold(run: RunContext, resource: string, ...records: readonly object[]): void {
  for (const one of records) put(run.mirror, resource, one, { source: "detail" });
}

const notesOf = (...ids: readonly number[]) => ids.map((id) => note(id, 9));

function followed(run: RunContext): string[] {
  const rows = waiting(run).filter((row) => row.endsWith(" changed with another"));
  return rows.map((row) => row.replace(" detail changed with another", ""));
}

describe("what changes with a record that no event announced", () => {
  test("is read after a detail that a list led to, once, and no more when that finds nothing", ({ run }) => {
    hold(run, "orders", order(1));
    readNow(run, "notes", note(5, 1), "new");
    const place = run.mirror.db.prepare("SELECT lane, due_ms FROM _work").raw().get();
    expect([followed(run), place]).toEqual([["orders id:1"], [2, 0]]);
    readNow(run, "orders", order(1), "changed with another");
    expect(waiting(run)).toEqual([]);
    readNow(run, "notes", note(5, 1), "scrub");
    expect(waiting(run)).toEqual([]);
  });

  test("is not read where it is not mirrored, was deleted, or is not selected", ({ run }) => {
    hold(run, "orders", order(2));
    remove(run.mirror, "orders", 2);
    for (const id of [5, 6]) readNow(run, "notes", note(id, id - 4), "new");
    expect(waiting(run)).toEqual([]);
  });

  test("waits for the next run where this one reads only what it depends on", ({ run }) => {
    hold(run, "orders", order(1));
    const { resources } = declaration;
    const mirrored = new Map(resources.map((resource) => [resource.name, resource]));
    const narrow = runContextOf(run.mirror, { mirrored }, ["notes"]);
    readNow(narrow, "notes", note(5, 1), "new");
    expect(followed(run)).toEqual(["orders id:1"]);
  });

  test("is not read where its own list shows it in full in every run", ({ run }) => {
    put(run.mirror, "colours", { id: 3, label: "red" });
    readNow(run, "orders", order(7, { colourId: 3 }), "new");
    expect(waiting(run)).toEqual([]);
  });

  test("is read after a full record that a list changed, and only where it changed", async ({ run }) => {
    put(run.mirror, "people", person(1, "before"));
    const pointed = { number: "person", colourId: 1 };
    hold(run, "orders", order(7, { ...pointed, remark: "before" }));
    hold(run, "orders", order(8, { ...pointed, remark: "after" }));
    await page(run, "people", [person(1, "after")]);
    expect(followed(run)).toEqual(["orders id:7"]);
    await page(run, "people", [person(1, "after")]);
    expect(followed(run)).toEqual(["orders id:7"]);
  });

  test("is the owner of an owned record, too", ({ run }) => {
    hold(run, "orders", order(7), order(8));
    for (const [documentType, id] of [["order", 7] as const, ["offer", 8] as const]) {
      const payment = { id, documentType, documentId: id, amount: 1 };
      put(run.mirror, "receipts", payment);
      readNow(run, "receipts", { ...payment, amount: 2 }, "cascade");
    }
    expect(followed(run)).toEqual(["orders id:7"]);
    expect(texts(run.mirror, "SELECT due_ms FROM _work")).toEqual(["0"]);
  });

  test("is no owner of which each run reads a list that shows it in full", async () => {
    const orders = { ...resourceOf("orders"), gives: "full" } as const;
    const resources = declaration.resources.map((one) => (one.name === "orders" ? orders : one));
    const run = await aRun([], resources);
    hold(run, "orders", order(7));
    readNow(run, "receipts", { id: 7, documentType: "order", documentId: 7, amount: 2 }, "cascade");
    expect(waiting(run)).toEqual([]);
  });

  test("is nothing of a resource that is not mirrored, after an event too", ({ run }) => {
    hold(run, "orders", order(1));
    const others = [...run.mirrored].filter(([name]) => name !== "orders");
    const narrow = { ...run, mirrored: new Map(others) };
    readNow(narrow, "notes", note(5, 1), "new");
    const item = { ...work(narrow, "receipts", 7, "recheck"), lane: "webhook" } as const;
    const { stamp } = answerTo(narrow, item, { cause: "webhook" });
    detail(narrow, "receipts", { id: 7, documentType: "order", documentId: 1, amount: 2 }, item, stamp);
    expect(followed(run)).toEqual([]);
  });

  test("is found in the record's parts, those it has and those it had, and after its deletion", ({ run }) => {
    hold(run, "notes", ...notesOf(1, 2, 3));
    hold(run, "orders", order(7, { lines: [{ id: "1" }, { id: 2 }] }));
    readNow(run, "orders", order(7, { lines: [{ id: 2 }, { id: 3 }] }), "scrub");
    expect(followed(run)).toEqual(["notes id:1", "notes id:2", "notes id:3"]);
  });

  test.each<[string, unknown, string[]]>([
    ["a list with odd elements", [null, 1, "2", { id: [2] }, { id: 3 }], ["notes id:3"]],
    ["no list", { id: 1 }, []],
    ["nothing", null, []],
  ])("is found in the objects of a list only: %s", async (_, extra, expected) => {
    const by = { kind: "parts", field: "extra", key: "id" } as const;
    const run = await aRun([{ resource: "orders", dependent: "notes", by }]);
    hold(run, "notes", ...notesOf(1, 2, 3));
    readNow(run, "orders", order(7, { extra }), "new");
    expect(followed(run)).toEqual(expected);
  });

  test("is found after a deletion by what it showed, also where it shows the record as it was", async () => {
    const run = await aRun([
      ...rules,
      { resource: "people", dependent: "notes", by: { kind: "counting", column: "body", is: "b" } },
    ]);
    put(run.mirror, "people", person(1, "name"));
    hold(run, "notes", note(5, 2));
    const pointed = { number: "person", colourId: 1, remark: "name" };
    hold(run, "orders", order(7, pointed));
    const read = answerTo(run, work(run, "people", 1, "scrub"));
    const outcomes = (["updated", "deleted"] as const).map((outcome) => {
      run.mirror.apply(() => queueDependents(read, { id: 1, outcome, isNews: false }));
      return followed(run);
    });
    expect(outcomes).toEqual([[], ["notes id:5", "orders id:7"]]);
  });

  test("after an event is what no event of its own announces, and no record without an id", ({ run }) => {
    hold(run, "notes", note(1, 9));
    for (const colourId of [3, null]) {
      const item = { ...work(run, "orders", 7, "recheck"), lane: "webhook" } as const;
      const { stamp } = answerTo(run, item, { cause: "webhook" });
      detail(run, "orders", order(7, { colourId, lines: [{ id: 1 }] }), item, stamp);
    }
    expect(followed(run)).toEqual(["colours id:3"]);
  });

  test("is not read where the list that is read in every run showed all of it", async () => {
    const people = { ...resourceOf("people"), fullWhen: ["score"] };
    const resources = declaration.resources.map((one) => (one.name === "people" ? people : one));
    const run = await aRun([{ resource: "notes", dependent: "people", by: ofPerson }], resources);
    put(run.mirror, "people", person(1), { source: "list" });
    hold(run, "people", person(2));
    for (const id of [5, 6]) readNow(run, "notes", note(id, id - 4), "scrub");
    expect(followed(run)).toEqual(["people id:2"]);
  });

  test("is read in a quick run even where its own list shows it in full: such a run reads a part of it", async () => {
    const rule = { resource: "notes", dependent: "people", by: ofPerson };
    for (const share of ["all", "quick"] as const) {
      const run = { ...(await aRun([rule])), share };
      put(run.mirror, "people", person(1));
      readNow(run, "notes", note(5, 1), "scrub");
      expect(followed(run)).toEqual(share === "all" ? [] : ["people id:1"]);
    }
  });

  test.each(["substr(json, 1, 20)", "'null'"])(
    "is found in what the record has now where its JSON was %s",
    async (json) => {
      const run = await aRun();
      hold(run, "notes", ...notesOf(1, 2));
      hold(run, "orders", order(7, { lines: [{ id: 1 }] }));
      run.mirror.db.exec(`UPDATE _raw_orders SET json = ${json}`);
      readNow(run, "orders", order(7, { lines: [{ id: 2 }] }), "scrub");
      expect(followed(run)).toEqual(["notes id:2"]);
    },
  );

  test("is found in the record's parts after an event of which the change was read before", async () => {
    const run = await aRun([{ resource: "orders", dependent: "notes", by: ofLines }]);
    hold(run, "notes", note(1, 9));
    for (const remark of ["x", "y"]) hold(run, "orders", order(7, { lines: [{ id: 1 }], remark }));
    const read = answerTo(run, work(run, "orders", 7, "recheck"), { cause: "webhook" });
    run.mirror.apply(() => queueDependents(read, { id: 7, outcome: "unchanged", isNews: true }));
    expect(followed(run)).toEqual(["notes id:1"]);
  });

  test("are not the parts that stay when something else of the record changes", ({ run }) => {
    hold(run, "notes", note(1, 9));
    hold(run, "orders", order(7, { lines: [{ id: 1 }] }));
    readNow(run, "orders", order(7, { lines: [{ id: 1 }], remark: "x" }), "scrub");
    expect(followed(run)).toEqual([]);
  });

  test("is no record of a rule for another resource, and none that is provisional or unknown", ({ run }) => {
    put(run.mirror, "people", person(5));
    hold(run, "orders", order(8, { number: "person", colourId: 5 }));
    putPreview(run.mirror, "orders", { id: 4, number: "A", total: 1 });
    readNow(run, "notes", note(5, 4), "scrub");
    readNow(run, "receipts", { id: 1, documentType: null, documentId: null, amount: 1 }, "scrub");
    expect(followed(run)).toEqual([]);
  });

  test.each(["full", "absent"])(
    "is read after a record that was not as its list showed it, whatever led to the read: %s",
    async (reason) => {
      const run = await aRun();
      const item = work(run, "notes", 5, reason);
      hold(run, "orders", order(1));
      detail(run, "notes", note(5, 1), item);
      expect(followed(run)).toEqual(["orders id:1"]);
    },
  );

  test.each([
    ["not read after a deletion that a list knew of before it was read", "absent", []],
    ["read after a deletion that the scrub found", "scrub", ["orders id:1"]],
  ])("is %s", async (_case, reason, expected) => {
    const run = await aRun();
    hold(run, "notes", note(5, 1));
    const item = work(run, "notes", 5, reason);
    hold(run, "orders", order(1));
    const read = answerTo(run, item, { cause: "confirm" });
    run.mirror.apply(() => queueDependents(read, { id: 5, outcome: "deleted", isNews: false }));
    expect(followed(run)).toEqual(expected);
  });

  test.each([
    ["new", 1, []],
    ["new", 2, ["notes id:1"]],
    ["changed", 1, []],
    ["changed", 2, ["notes id:1"]],
  ] as const)(
    "is read when it was read before the %s record changed after its list, to a total of %i",
    async (reason, total, expected) => {
      const run = await aRun();
      const listed = putPreview(run.mirror, "orders", { id: 7, number: "A", total: 1 }).read;
      const at = { kind: "detail", resource: "orders", target: "id:7", lane: "hydration" } as const;
      const item = leased(run, { ...at, reason, payload: { listed: listed?.listed } });
      hold(run, "notes", note(1, 9));
      detail(run, "orders", order(7, { total, lines: [{ id: 1 }] }), item);
      expect(followed(run)).toEqual(expected);
    },
  );
});
