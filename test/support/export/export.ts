import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { DuckDBInstance, type DuckDBConnection } from "@duckdb/node-api";
import { exportTables, type ExportResult } from "../../../src/export/export-tables.ts";
import type { ExportParts, ExportRequest, ExportWatch } from "../../../src/export/plan/export-request.ts";
import type { Mirror } from "../../../src/state/mirror.ts";
import { openHasty } from "../mirror/mirror.ts";
import { exportParts, plainRequest } from "./export-request.ts";
import { put, putAs } from "../mirror/store.ts";
import { tempFolder } from "../temporary-folder.ts";

export interface Exported extends ExportResult {
  readonly out: string;
  /** A file below the company's folder. */
  readonly text: (file: string) => string;
  /** Those of a file of CSV that has no quotes, its heading first. */
  readonly cells: (file: string) => string[][];
}

/** Exports an open mirror, into a folder of the test unless one is given. */
export async function exportOf(
  mirror: Mirror,
  request: Partial<ExportRequest> = {},
  parts: Partial<ExportParts> = {},
  watch: ExportWatch = {},
): Promise<Exported> {
  const out = request.out ?? path.join(tempFolder(), "out");
  const all = { ...exportParts(mirror.db.name, mirror.declaration), ...parts };
  const result = await exportTables(all, { ...plainRequest, ...request, out }, watch);
  const text = (file: string) => readFileSync(path.join(out, "acme", file), "utf8");
  const lines = (file: string) => text(file).trimEnd().split("\r\n");
  return { ...result, out, text, cells: (file) => lines(file).map((line) => line.split(",")) };
}

export async function withDuck<T>(use: (duck: DuckDBConnection) => Promise<T>): Promise<T> {
  const duck = await (await DuckDBInstance.create(":memory:")).connect();
  try {
    return await use(duck);
  } finally {
    duck.closeSync();
  }
}

/** Runs a query in DuckDB, after these statements; every value as text. */
export function duckRows(sql: string, before = ""): Promise<(string | null)[][]> {
  return withDuck(async (duck) => {
    if (before !== "") await duck.run(before);
    return textRows(duck, sql);
  });
}

export async function textRows(duck: DuckDBConnection, sql: string): Promise<(string | null)[][]> {
  const reader = await duck.runAndReadAll(`SELECT COLUMNS(*)::VARCHAR FROM (${sql})`);
  return reader.getRows() as (string | null)[][];
}

/** `name TYPE` of every column. */
export async function duckTypes(file: string): Promise<string[]> {
  const types = `SELECT column_name || ' ' || column_type FROM (DESCRIBE SELECT * FROM '${file}')`;
  return (await duckRows(types)).map(([column]) => String(column));
}

export function orderRecord(id: number | bigint, more: Readonly<Record<string, unknown>> = {}): string {
  const order = {
    id: 0,
    number: `2026-${id}`,
    total: 10.5,
    paid: true,
    issuedOn: "2026-03-01",
    changedAt: "2026-03-01T12:00:00+01:00",
    extra: null,
    colourId: null,
    colour: null,
    buyer: null,
    lines: [],
    receipts: [],
    remark: null,
    ...more,
  };
  return JSON.stringify(order).replace('"id":0', `"id":${id}`);
}

export const ann = { id: 1, name: "Ann", email: "a@example.com", score: 0.5 };

/** A mirror with one person, Ann, and an order of one line. */
export async function aShop(): Promise<Mirror> {
  const mirror = await openHasty();
  put(mirror, "people", ann);
  putAs(mirror, "orders", 1, orderRecord(1, { lines: [{ id: 5, title: "a", quantity: 2 }] }));
  return mirror;
}

export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => statSync(path.join(folder, file)).isFile())
    .toSorted();
}
