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
import { openMirror, type Mirror } from "../../src/state/mirror.ts";
import type { ReadStamp } from "../../src/store/apply/read-stamp.ts";
import type { BenchResult } from "./result.ts";

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

function manifestOf(resource: Resource): Manifest {
  return {
    name: "bench",
    title: "Bench",
    baseUrl: "",
    limits: { requests: 120, windowMs: 60_000 },
    languages: [],
    resources: [resource],
    events: [],
    cascades: [],
    operations: [],
    identity: { resource: "wide", nameField: "name", businessIdColumn: "", businessIdIn: [], proofs: [] },
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

function cpuMsOf(work: () => void): number {
  globalThis.gc?.();
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** `npm run bench -- store`: what giving free pages back costs a first run. */
export async function benchStore(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), "fintoro-mirror-bench-"));
  const manifest = manifestOf(wideResource());
  const pages = answers();
  const ratios: number[] = [];
  try {
    for (let round = 0; round < 5; round++) {
      const mirror = await openMirror(join(folder, `mirror-${round}.db`), manifest);
      const ownMs = cpuMsOf(() => syncAll(mirror, pages));
      mirror.close();
      ratios.push(ownMs / (await cpuMsWithoutAutoVacuum(join(folder, `fixed-${round}.db`), manifest, pages)));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const name = "first sync, CPU against a file without auto_vacuum";
  const detail = `${records} records of 40 columns with 3 lines`;
  return [{ name, ratio: median(ratios), aim: "at most 1.1", detail }];
}

/** A file that has a page keeps the mode it has. */
async function cpuMsWithoutAutoVacuum(file: string, manifest: Manifest, pages: readonly Buffer[]) {
  const empty = new Database(file);
  empty.exec("PRAGMA auto_vacuum = NONE; CREATE TABLE first (id INTEGER); DROP TABLE first");
  empty.close();
  const mirror = await openMirror(file, manifest);
  if (mirror.db.pragma("auto_vacuum", { simple: true }) !== 0) throw new Error(`${file} has auto_vacuum`);
  const cpuMs = cpuMsOf(() => syncAll(mirror, pages));
  mirror.close();
  return cpuMs;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
