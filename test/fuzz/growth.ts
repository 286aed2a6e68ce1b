import assert from "node:assert/strict";
import path from "node:path";
import * as fc from "fast-check";
import { openMirror, type Mirror } from "../../src/state/mirror.ts";
import { openDatabase } from "../../src/store/database.ts";
import { check, named } from "../support/mirror/local-check.ts";
import { manifestOf, numberedFromOne } from "../support/mirror/mirror.ts";
import { publish } from "../support/export/published.ts";
import { order, person } from "../support/mirror/shop-records.ts";
import { allChanges, liveRecords, putAs, remove, replay, row, rows } from "../support/mirror/store.ts";
import { fuzzTarget } from "./fuzz-target.ts";
import { memoryScratch } from "../support/memory-folder.ts";

const key = fc.oneof(
  fc.constantFrom("a a", "", ..."a A a_ aA a-a á Á ß İ ı 🙂 ☂ _ __ _a 1".split(" ")),
  fc.constantFrom(..."select order rowid oid _rowid_ ID Name _synced_at _deleted_at position".split(" ")),
  fc.constantFrom(
    "x\u0000y",
    "\ud800",
    ..."__proto__ constructor toString x\"y x'y x]y x`y x;-- x.y".split(" "),
  ),
  fc.constantFrom(..."buyerName buyer_name order_id peopleId null sqlite_x x_ x x_2 x_2_2".split(" ")),
  fc.constantFrom(`${"k".repeat(99)}𐊡`, `${"k".repeat(99)}𐊢`),
  fc.constantFrom("k".repeat(1_000), "k".repeat(100), "𝒜".repeat(60)),
  fc.string({ unit: "binary", maxLength: 6 }),
);
const value: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, 1, 1.5, -0, "x", "", "1", true, false),
  fc.constantFrom<unknown>({}, [], [1], { a: null }, { A: 1, a: 2 }),
  fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.string({ unit: "binary" })),
  fc.jsonValue({ maxDepth: 2 }),
);
const unknown = fc.dictionary(key, value, { maxKeys: 4 });
const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constantFrom("people" as const, "orders" as const),
      id: fc.integer({ min: 1, max: 3 }),
      more: unknown,
      buyer: fc.option(unknown),
      lines: fc.array(unknown, { maxLength: 2 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("remove" as const), id: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("reopen" as const, "publish" as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Put = Extract<Step, { readonly more: unknown }>;

/** What the service would have sent; known fields win over an unknown one of the same name. */
function textOf({ kind, id, more, buyer, lines }: Put): string {
  if (kind === "people") return JSON.stringify(joined(more, person(id)));
  const whole = {
    ...order(id),
    buyer: buyer === null ? null : joined(buyer, { name: "b", city: null }),
    lines: lines.map((line, i) => joined(line, { id: i, title: null, quantity: null })),
  };
  return JSON.stringify(joined(more, whole));
}

/** Keeps a key `__proto__` an ordinary one. */
function joined(first: object, second: object): object {
  return Object.fromEntries([...Object.entries(first), ...Object.entries(second)]);
}

/** The cell of an unknown field, by the words of the documentation. */
function cellOf(written: unknown): unknown {
  if (written === null || written === undefined) return null;
  if (typeof written === "boolean") return Number(written);
  if (typeof written === "string") return written.toWellFormed();
  return typeof written === "number" ? written + 0 : JSON.stringify(written).toWellFormed();
}

interface GrownColumn {
  readonly column_name: string;
  readonly path: string;
}

/** Every unknown field that a record came with stands in its column (I12). */
function assertColumns(
  mirror: Mirror,
  table: "people" | "orders",
  record: Record<string, unknown>,
  id: number,
): void {
  const sql = "SELECT column_name, path FROM _schema_changes WHERE table_name = ? AND what = 'added'";
  const grown = rows(mirror, sql, table) as unknown as GrownColumn[];
  const stored = row(mirror, table, id) ?? assert.fail("the record has no row");
  for (const { column_name: column, path: keys } of grown) {
    const found = (JSON.parse(keys) as string[]).reduce(within, record);
    assert.ok(Object.hasOwn(stored, column), `no column ${column}`);
    const isObject = typeof found === "object" && found !== null;
    const cell = isObject ? (JSON.parse(String(stored[column])) as unknown) : stored[column];
    assert.deepEqual(
      cell,
      isObject ? JSON.parse(JSON.stringify(found).toWellFormed()) : cellOf(found),
      column,
    );
  }
  const known = new Set(["id", "name", "email", "score", "number", "total", "lines", "receipts", "buyer"]);
  const paths = new Set(grown.map((one) => one.path));
  for (const [name, found] of Object.entries(record))
    assert.ok(
      known.has(name) || found === null || name === "__proto__" || paths.has(JSON.stringify([name])),
      `${name} has no column`,
    );
}

function within(found: unknown, name: string): unknown {
  return typeof found === "object" && found !== null && Object.hasOwn(found, name)
    ? (found as Record<string, unknown>)[name]
    : undefined;
}

/** A mirror that is closed and opened again on the way, and the records that it was given. */
class GrowingMirror {
  readonly #file: string;
  readonly #manifest = manifestOf();
  readonly #texts = { people: new Map<number, string>(), orders: new Map<number, string>() };
  #mirror: Mirror | null = null;

  constructor(folder: string) {
    this.#file = path.join(folder, "shop.db");
  }

  async open(): Promise<Mirror> {
    this.close();
    this.#mirror = await openMirror(this.#file, this.#manifest, { clock: numberedFromOne });
    this.#mirror.db.pragma("synchronous = OFF");
    return this.#mirror;
  }

  close(): void {
    this.#mirror?.close();
    this.#mirror = null;
  }

  async apply(one: Step): Promise<void> {
    const mirror = this.#mirror ?? (await this.open());
    if ("more" in one) {
      const text = textOf(one);
      putAs(mirror, one.kind, one.id, text, { source: "detail" });
      this.#texts[one.kind].set(one.id, text);
      assertColumns(mirror, one.kind, JSON.parse(text) as Record<string, unknown>, one.id);
    } else if ("id" in one) {
      if (this.#texts.people.delete(one.id)) remove(mirror, "people", one.id);
    } else if (one.kind === "reopen") await this.open();
    else await this.publish();
  }

  async publish(): Promise<void> {
    const { file } = await publish(this.#file, { manifest: this.#manifest });
    const report = openDatabase(file, { readonly: true });
    try {
      for (const table of ["people", "orders"] as const)
        assert.equal(report.prepare(`SELECT count(*) FROM ${table}`).pluck().get(), this.#texts[table].size);
    } finally {
      report.close();
    }
  }

  /** The JSON is what came, the change log replays to it (I2), and the mirror agrees with itself. */
  async assertWhole(): Promise<void> {
    const mirror = await this.open();
    const replayed = replay(allChanges(mirror));
    for (const table of ["people", "orders"] as const) {
      const live = liveRecords(mirror, table);
      const expected = Array.from(this.#texts[table], ([id, text]) => [`${table}:${id}`, text] as const);
      assert.deepEqual(live, new Map(expected));
      for (const [name, text] of live) assert.equal(replayed.get(name), text);
    }
    assert.equal(replayed.size, this.#texts.people.size + this.#texts.orders.size);
    assert.deepEqual(named(await check(mirror)), []);
    await this.publish();
  }
}

/** Tables that grow with fields that the connector does not know. */
export const grownColumns = fuzzTarget("growth/columns", {
  runs: 6,
  input: fc.array(step, { minLength: 1, maxLength: 14, size: "max" }),
  open: () => async (steps) => {
    using folder = memoryScratch();
    const growing = new GrowingMirror(folder.path);
    try {
      for (const one of steps) await growing.apply(one);
      await growing.assertWhole();
    } finally {
      growing.close();
    }
  },
});
