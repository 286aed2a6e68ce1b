import assert from "node:assert/strict";
import { copyFileSync, rmSync } from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import * as fc from "fast-check";
import { differences, look, rowDifferences, type Db } from "../support/truth/compare.ts";
import { nativeIdOf } from "../support/json/json.ts";
import { localDamage } from "../support/mirror/local-check.ts";
import { openCompany, sync, type Company } from "../support/company/open-company.ts";
import { memoryScratch } from "../support/memory-folder.ts";
import { jsonReply, missing, rewritten, type Obstacle, type Reply } from "../support/company/proxy.ts";
import {
  expectedRow,
  idOf,
  truthOf,
  type Dict,
  type TrueRecord,
  type Truth,
} from "../support/truth/truth.ts";
import { alteration, alteredKey, alteredText, type Alteration } from "./altered-records.ts";
import { fuzzTarget } from "./fuzz-target.ts";

/** Tables whose records are altered. */
const altered = [
  ..."banks clients suppliers bank_accounts business_case_statuses warehouses business_cases".split(" "),
  ..."price_list_items warehouse_inbound_receipts warehouse_outbound_receipts contact_activity_logs".split(
    " ",
  ),
  ..."invoices credit_notes proformas orders quotations".split(" "),
];
const documents = new Set("invoices credit_notes proformas orders quotations".split(" "));
const parents = { clients: "client_id", suppliers: "supplier_id", business_cases: "business_case_id" };

/** Tables nothing else depends on, for lists that are none. */
const replaced = "countries languages currencies delivery_methods units".split(" ");
const bodies = [
  ...'null [] {} 17 {"data":null} {"data":{}} {"data":{"a":1}} {"data":"x"} {"data":[],"data":[]}'.split(" "),
  ...'{"data":[[1]]} {"data":[null,1]} {"message":"x"} {"data":[{}]} {"data":[{"id":1},{"id":1}]}'.split(" "),
  "",
  "<h1>Soon</h1>",
  '{"data":[{"id":1}',
];

const input = fc.record({
  odd: fc.dictionary(
    fc.constantFrom(...altered),
    fc.record({ at: fc.nat({ max: 40 }), alterations: fc.array(alteration, { minLength: 1, maxLength: 3 }) }),
    { minKeys: 1, maxKeys: 12 },
  ),
  body: fc.option(fc.tuple(fc.constantFrom(...replaced), fc.constantFrom(...bodies))),
});
type Input = typeof input extends fc.Arbitrary<infer T> ? T : never;

const pathOf = (table: string) => `/${table.replaceAll("_", "-")}`;

const snake = (key: string) => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** One record of the service that is not as it should be, wherever it is shown. */
class OddRecord {
  readonly table: string;
  /** By which the service knew it. */
  readonly id: string;
  readonly whole: Dict;
  /** What it says its id is, where a row can have that; null: it has no usable one. */
  readonly shownId: string | null;
  /** As it was sent. */
  readonly texts = new Set<string>();
  private readonly alterations: readonly Alteration[];

  constructor(table: string, record: TrueRecord, alterations: readonly Alteration[]) {
    this.table = table;
    this.id = idOf(record.json);
    this.whole = record.json;
    this.alterations = alterations;
    const text = this.textOf(record.json);
    const id = nativeIdOf(text);
    const isUsable = id !== null && /^-?\d{1,19}$/.test(id) && BigInt(id) >= 0n && BigInt(id) < 2n ** 63n;
    this.shownId = isUsable ? String(BigInt(id)) : null;
  }

  /** How it is shown in a list or by itself. */
  textOf(shown: Dict): string {
    const text = alteredText(shown, this.whole, this.alterations);
    this.texts.add(text);
    return text;
  }

  /** Does an alteration bear on this column? */
  touches(column: string): boolean {
    return this.alterations.some((one) => {
      if (one.kind === "add" || one.kind === "whole") return one.kind === "whole";
      const name = snake(alteredKey(this.whole, one));
      return column === name || column.startsWith(`${name}_`);
    });
  }
}

/** The service with odd records in its answers. */
function obstacleOf(odd: ReadonlyMap<string, OddRecord>, body: Input["body"]): Obstacle {
  return async ({ path: asked }, passOn) => {
    if (body && asked === pathOf(body[0])) return rewritten(await passOn(), () => body[1]);
    for (const one of odd.values()) {
      if (asked === pathOf(one.table)) return listWith(one, await passOn());
      if (asked === `${pathOf(one.table)}/${one.shownId ?? one.id}`)
        return jsonReply(200, one.textOf(one.whole));
      if (asked === `${pathOf(one.table)}/${one.id}`) return missing;
    }
    return undefined;
  };
}

function listWith(one: OddRecord, reply: Reply): Reply {
  if (reply.status !== 200) return reply;
  return rewritten(reply, (text) => {
    const { data, ...more } = JSON.parse(text) as { readonly data: readonly Dict[] };
    const texts = data.map((record) =>
      idOf(record) === one.id ? one.textOf(record) : JSON.stringify(record),
    );
    return `{"data":[${texts.join(",")}],${JSON.stringify(more).slice(1)}`.replace(/,\}$/, "}");
  });
}

interface Kept {
  readonly id: string | null;
  readonly reason: string;
  readonly json: string;
}

/** I12: the record as it was sent is a row, or kept with a reason. */
function assertKept(db: Db, one: OddRecord): void {
  const name = `${one.table} ${one.id}, sent as ${[...one.texts].join(" and ").slice(0, 2_000)}`;
  const sql = "SELECT CAST(record_id AS TEXT) AS id, reason, json FROM _quarantine WHERE resource = ?";
  const kept = (db.prepare(sql).all(one.table) as Kept[]).filter(
    ({ id, reason, json }) => id === one.shownId && reason !== "" && one.texts.has(json),
  );
  if (kept.length > 0) return;
  assert.notEqual(one.shownId, null, `${name}: without an id, and not in quarantine`);
  const row = db.prepare(`SELECT * FROM "${one.table}" WHERE id = ? AND _deleted_at IS NULL`);
  const cells = row.get(BigInt(one.shownId ?? 0)) as Parameters<typeof rowDifferences>[0] | undefined;
  assert.ok(cells, `${name}: neither a row nor in quarantine`);
  const raw = db.prepare("SELECT json FROM _raw WHERE resource = ? AND id = ?").pluck();
  const json = raw.get(one.table, BigInt(one.shownId ?? 0)) as string;
  assert.ok(one.texts.has(json), `${name}: other JSON`);
  const expected = Object.entries(expectedRow(one.table, one.whole).cells);
  const untouched = Object.fromEntries(expected.filter(([column]) => !one.touches(column)));
  const wrong = rowDifferences(cells, untouched).filter((what) =>
    Object.hasOwn(untouched, /^(?:no column )?(\S+)/.exec(what)?.[1] ?? ""),
  );
  assert.deepEqual([...wrong, ...emptied(json, cells)], [], name);
}

/** Columns, but the mirror's own, that are empty although the record has a plain value for them: it was lost. */
function emptied(json: string, cells: Readonly<Record<string, unknown>>): string[] {
  const values = Object.entries(JSON.parse(json) as Dict).filter(
    ([key, value]) => value !== null && !key.startsWith("_"),
  );
  const plain = values.filter(([, value]) => typeof value !== "object");
  return plain.flatMap(([key]) => (cells[snake(key)] === null ? [`${key} has no value in its column`] : []));
}

/** What is not right of the records that are not odd, and do not hang on one that is. */
function othersWrong(
  file: string,
  truth: Truth,
  odd: readonly OddRecord[],
  without: string | undefined,
): string[] {
  const copy = `${file}.others`;
  copyFileSync(file, copy);
  const db = new Database(copy);
  try {
    const others = new Map([...truth].map(([table, records]) => [table, new Map(records)]));
    for (const one of odd) leaveOut(db, others, one);
    return differences(
      db,
      others,
      [...others.keys()].filter((table) => table !== without),
    );
  } finally {
    db.close();
    rmSync(copy);
  }
}

function leaveOut(db: Db, others: Map<string, Map<string, TrueRecord>>, one: OddRecord): void {
  const ids = [one.id, ...(one.shownId === null ? [] : [one.shownId])].join();
  const parent = parents[one.table as keyof typeof parents];
  const drop = (table: string, column: string) => {
    db.exec(`DELETE FROM "${table}" WHERE "${column}" IN (${ids})`);
    const records = others.get(table) ?? new Map<string, TrueRecord>();
    for (const [id, { json }] of records)
      if (expectedRow(table, json).cells[column] === Number(one.id)) records.delete(id);
  };
  drop(one.table, "id");
  if (documents.has(one.table)) drop("document_payments", "document_id");
  if (parent) drop("contact_activity_logs", parent);
  const children = [...expectedRow(one.table, one.whole).children.keys()].map((child) => [one.table, child]);
  for (const [table, child] of [...children, ["contact_activity_logs", "contact_activity_log_attachments"]]) {
    const [key] = db.prepare("SELECT name FROM pragma_table_info(?)").pluck().all(child) as string[];
    db.exec(`DELETE FROM "${child}" WHERE "${key}" NOT IN (SELECT id FROM "${table}")`);
  }
}

/** The records that an input means; a log of an odd parent is not read. */
function oddRecords(truth: Truth, { odd }: Input): Map<string, OddRecord> {
  const found = Object.entries(odd).flatMap(([table, { at, alterations }]) => {
    const records = [...(truth.get(table)?.values() ?? [])];
    const record = records[at % Math.max(1, records.length)];
    const one = record && new OddRecord(table, record, alterations);
    // It takes no other record's place: then that one is not right either.
    const isTaken = one && one.shownId !== one.id && truth.get(table)?.has(one.shownId ?? "");
    return one && !isTaken ? [[table, one] as const] : [];
  });
  return new Map(found);
}

/** A run over answers with odd records, into a mirror of its own; then one over answers that are right again. */
async function assertRuns(company: Company, truth: Truth, one: Input): Promise<void> {
  using folder = memoryScratch();
  const here = { ...company, folder: folder.path, file: path.join(folder.path, "acme.db") };
  const odd = oddRecords(truth, one);
  try {
    company.proxy.obstruct(obstacleOf(odd, one.body));
    const { outcome, error } = await sync(here, { allowMassDelete: true });
    assert.ok(outcome === "complete" || outcome === "partial", `${outcome}: ${JSON.stringify(error)}`);
    look(here.file, (db) => {
      for (const record of odd.values()) if (!hasOddParent(odd, record)) assertKept(db, record);
      const isKept = db.prepare("SELECT count(*) FROM _quarantine").pluck().get() !== 0;
      assert.ok(!isKept || outcome === "partial", "records in quarantine, and the run says it is complete");
    });
    assert.deepEqual(othersWrong(here.file, truth, [...odd.values()], one.body?.[0]), []);
    assert.deepEqual(await localDamage(here), []);
    company.recover();
    assert.equal((await sync(here, { full: true, allowMassDelete: true })).outcome, "complete");
    look(here.file, (db) => assert.deepEqual(differences(db, truth), []));
    assert.deepEqual(await localDamage(here), []);
  } finally {
    company.recover();
  }
}

function hasOddParent(odd: ReadonlyMap<string, OddRecord>, { table, whole }: OddRecord): boolean {
  if (table !== "contact_activity_logs") return false;
  const cells = expectedRow(table, whole).cells;
  return Object.entries(parents).some(([name, column]) => {
    const parent = odd.get(name);
    return parent !== undefined && cells[column] === Number(parent.id);
  });
}

/** Whole runs over records and lists that are not what the service promises. */
export const answersWithOddRecords = fuzzTarget("answers/records", {
  runs: 2,
  input,
  open: async (atEnd) => {
    const company = await openCompany({ records: 8 });
    atEnd(() => company.close());
    const truth = truthOf(company.sandbox);
    return (one) => assertRuns(company, truth, one);
  },
});
