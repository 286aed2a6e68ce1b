import { hash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { Random } from "../../src/base/random.ts";
import { seededRandom } from "../support/seeded-random.ts";
import type { Manifest } from "../../src/connector/connector-manifest.ts";
import type { Resource } from "../../src/connector/resource.ts";
import * as schema from "../../src/connector/record-schema.ts";
import { readList } from "../../src/extract/answers.ts";
import { parseLossless } from "../../src/json/lossless.ts";
import { insertSql } from "../../src/store/sql-text.ts";
import { openMirror, type Mirror } from "../../src/state/mirror.ts";
import type { ReadStamp } from "../../src/store/apply/read-stamp.ts";
import { toRow, type Cell } from "../../src/store/tables/row-decoder.ts";
import type { JsonObject } from "../../src/json/literal.ts";
import { manifestOf } from "./export-mirror.ts";
import { median, type BenchResult } from "./result.ts";

const records = 20_000;
const perPage = 500;

/** 40 columns and three lines each, as an invoice has. */
function wideResource(): Resource {
  const line = schema.record({
    id: schema.integer(),
    name: schema.text(),
    quantity: schema.decimal(),
    unitPrice: schema.decimal(),
    vatRate: schema.decimal(),
    total: schema.decimal(),
  });
  const shape = { id: schema.integer(), lines: schema.children("wide_lines", line) };
  for (let i = 0; i < 13; i++) {
    Object.assign(shape, {
      [`text${i}`]: schema.orNull(schema.text()),
      [`amount${i}`]: schema.decimal(),
      [`count${i}`]: schema.integer(),
    });
  }
  const record = schema.record(shape);
  const list = { kind: "paged", path: "/wide", perPage, params: {} } as const;
  return {
    name: "wide",
    singular: "wide",
    title: "Wide",
    origin: "published",
    gives: "full",
    record,
    fields: schema.fieldsOf(record),
    list,
    detail: "/wide/{id}",
  };
}

/** The answers of a whole list. */
function answers(): Buffer[] {
  const random = seededRandom(7);
  const pages: Buffer[] = [];
  for (let first = 1; first <= records; first += perPage) {
    const data = Array.from({ length: perPage }, (_, i) => wideRecord(first + i, random));
    pages.push(Buffer.from(JSON.stringify({ data })));
  }
  return pages;
}

function wideRecord(id: number, random: Random): object {
  const record: Record<string, unknown> = { id };
  for (let i = 0; i < 13; i++) {
    record[`text${i}`] = i % 4 === 3 ? null : `Položka ${Math.floor(random.next() * 1e6)} "ž" ${i}`;
    record[`amount${i}`] = Math.floor(random.next() * 1e7) / 100;
    record[`count${i}`] = Math.floor(random.next() * 1e6);
  }
  record["lines"] = Array.from({ length: 3 }, (_, i) => ({
    id: id * 10 + i,
    name: `Riadok ${i}`,
    quantity: i + 1,
    unitPrice: 12.5,
    vatRate: 23,
    total: 12.5 * (i + 1),
  }));
  return record;
}

function syncAll(mirror: Mirror, pages: readonly Buffer[]): void {
  const table = mirror.table("wide");
  for (const page of pages) {
    const { sequence } = mirror;
    const sentSeq = sequence.next();
    const list = readList(page);
    const reading: ReadStamp = {
      cause: "sweep",
      sentSeq,
      receivedSeq: sequence.next(),
      receivedAtMs: Date.now(),
      requestId: "r",
      run: 1,
    };
    mirror.apply(() => {
      for (const { slice, id } of list.records)
        table.put({ stamp: reading, id: Number(id), slice, source: "list" });
    });
  }
}

/** Writes the same rows as the store, cut beforehand, with bare prepared statements. */
function bareInserts(mirror: Mirror, pages: readonly Buffer[]): () => void {
  const { db } = mirror;
  const { plan } = mirror.table("wide");
  const names = plan.columns.map((column) => column.name);
  const child = plan.children[0];
  const typed = db.prepare(insertSql("wide", [...names, "_deleted_at", "_synced_at"]));
  const lines = db.prepare(
    insertSql("wide_lines", ["wide_id", "position", ...(child?.columns ?? []).map((c) => c.name)]),
  );
  const raw = db.prepare(insertSql("_raw_wide", ["id", "json"]));
  const fence = db.prepare("INSERT INTO _fence_wide VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  const change = db.prepare(
    "INSERT INTO _change_log (resource, record_id, op, read, before) VALUES (?, ?, ?, ?, ?)",
  );
  const at = new Date().toISOString();
  const cut = pages.map((page) =>
    [...readList(page).records].map(({ slice }) => {
      const row = toRow(plan, parseLossless(slice) as JsonObject);
      const id = row.cells[0] as number;
      const children = (row.children[0] ?? []).map((cells, i) => [id, i, ...cells] as Cell[]);
      return {
        id,
        cells: [...row.cells, null, at],
        children,
        text: slice.toString(),
        sha: hash("sha1", slice, "buffer"),
      };
    }),
  );
  return () => {
    for (const page of cut) {
      db.transaction(() => {
        for (const { id, cells, children, text, sha } of page) {
          typed.run(cells);
          for (const line of children) lines.run(line);
          raw.run(id, text);
          const seq = change.run("wide", id, "insert", 1, null).lastInsertRowid;
          fence.run(id, sha, null, "list", 1, 1, seq, 0);
        }
      }).immediate();
    }
  };
}

async function timed(work: () => void): Promise<{ wallMs: number; cpuMs: number }> {
  globalThis.gc?.();
  const cpu = process.cpuUsage();
  const start = performance.now();
  work();
  const wallMs = performance.now() - start;
  const used = process.cpuUsage(cpu);
  return { wallMs, cpuMs: (used.user + used.system) / 1000 };
}

/** First sync against bare inserts; an unchanged re-sync against the first. */
export async function benchStore(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), "fintoro-mirror-bench-"));
  const manifest = manifestOf(wideResource());
  const first = answers();
  const ratios = { first: [] as number[], again: [] as number[], fixed: [] as number[] };
  let rate = 0;
  try {
    for (let round = 0; round < 5; round++) {
      const bare = await openMirror(join(folder, `bare-${round}.db`), manifest);
      const insert = bareInserts(bare, first);
      const bareTime = await timed(insert);
      bare.close();
      const mirror = await openMirror(join(folder, `mirror-${round}.db`), manifest);
      const syncTime = await timed(() => syncAll(mirror, first));
      const againTime = await timed(() => syncAll(mirror, first));
      mirror.close();
      ratios.first.push(bareTime.wallMs / syncTime.wallMs);
      const fixed = await timedWithoutAutoVacuum(join(folder, `fixed-${round}.db`), manifest, first);
      ratios.fixed.push(syncTime.cpuMs / fixed.cpuMs);
      ratios.again.push(againTime.cpuMs / syncTime.cpuMs);
      rate = Math.max(rate, (records / syncTime.wallMs) * 1000);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const detail = `${records} records of 40 columns with 3 lines, best ${Math.round(rate)} records/s`;
  return [
    {
      name: "first sync, share of bare insert speed",
      ratio: median(ratios.first),
      aim: "at least 0.65",
      detail,
    },
    {
      name: "unchanged re-sync, CPU against the first",
      ratio: median(ratios.again),
      aim: "at most 0.12",
      detail,
    },
    {
      name: "first sync, CPU against a file without auto_vacuum",
      ratio: median(ratios.fixed),
      aim: "at most 1.1",
      detail,
    },
  ];
}

/** A file that has a page keeps the mode it has. */
async function timedWithoutAutoVacuum(file: string, manifest: Manifest, pages: readonly Buffer[]) {
  const empty = new Database(file);
  empty.exec("PRAGMA auto_vacuum = NONE; CREATE TABLE first (id INTEGER); DROP TABLE first");
  empty.close();
  const mirror = await openMirror(file, manifest);
  if (mirror.db.pragma("auto_vacuum", { simple: true }) !== 0) throw new Error(`${file} has auto_vacuum`);
  const time = await timed(() => syncAll(mirror, pages));
  mirror.close();
  return time;
}
