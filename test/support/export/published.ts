import { join } from "node:path";
import { onTestFinished } from "vitest";
import { declaration } from "../../../connectors/fintoro/declaration.ts";
import type { SandboxOptions } from "../../../connectors/fintoro/sandbox/sandbox.ts";
import { startSandbox, testDay, type Sandbox } from "../sandbox/control.ts";
import type { Clock } from "../../../src/base/clock.ts";
import { createView } from "../../../src/report/build-report.ts";
import { publishReport } from "../../../src/report/publish-report.ts";
import { layoutOf, tableSql } from "../../../src/report/report-layout.ts";
import { openMirror, type Mirror } from "../../../src/state/mirror.ts";
import { tablesOfConnector } from "../../../src/store/snapshot/snapshot-tables.ts";
import { openDatabase, type Db } from "../../../src/store/database.ts";
import { putAs, remove } from "../mirror/store.ts";
import { truthOf, type Truth } from "../truth/truth.ts";
import type { Dict, Row } from "./recount.ts";
import { memoryScratch } from "../memory-folder.ts";

/** Opens the mirror of a company in this folder, which is made where there is none, for as long as `use` takes. */
export async function withMirror<T>(
  folder: string,
  use: (mirror: Mirror) => T,
  company = "acme",
): Promise<T> {
  using mirror = await openMirror(join(folder, `${company}.db`), declaration);
  return use(mirror);
}

/** A mirror of what the sandbox has, filled without requests. */
export async function mirrorOf(sandbox: Sandbox, folder: string): Promise<Mirror> {
  const mirror = await openMirror(join(folder, "acme.db"), declaration);
  mirror.db.pragma("synchronous = OFF");
  for (const [table, records] of truthOf(sandbox)) {
    for (const [id, { text }] of records) putAs(mirror, table, Number(id), text);
  }
  return mirror;
}

export type PublishedCompany = Awaited<ReturnType<typeof publishedCompany>>;

/** A company of a sandbox, mirrored, some of it deleted since, and published. Its scope closes it, or who has it. */
export async function publishedCompany(
  options: SandboxOptions,
  goneOf: (truth: Truth) => Readonly<Record<string, readonly string[]>> = () => ({}),
) {
  const { path: folder, remove: removeFolder } = memoryScratch();
  const sandbox = await startSandbox({ today: testDay, limit: 100_000, ...options });
  const mirror = await mirrorOf(sandbox, folder);
  const truth = truthOf(sandbox);
  await sandbox.close();
  /** What the service has. */
  const records = withoutRecords(mirror, truth, goneOf(truth));
  const { file } = await publish(mirror);
  const db = openDatabase(file, { readonly: true });
  const close = () => {
    db.close();
    mirror.close();
    removeFolder();
  };
  const rows = (view: string) => rowsOf(db, `SELECT * FROM ${view}`);
  return { records, mirror, file, rows, close, [Symbol.dispose]: close };
}

/** Deletes records in the mirror; returns the others as the service has them. */
function withoutRecords(mirror: Mirror, truth: Truth, gone: Readonly<Record<string, readonly string[]>>) {
  for (const [table, ids] of Object.entries(gone)) for (const id of ids) remove(mirror, table, Number(id));
  return new Map(
    [...truth].map(([table, records]): [string, Dict[]] => [
      table,
      [...records].filter(([id]) => !gone[table]?.includes(id)).map(([, record]) => record.json as Dict),
    ]),
  );
}

/** A clock that stands at noon UTC of a day. */
export function clockAt(day: string): Clock {
  const nowMs = () => Date.parse(`${day}T12:00:00Z`);
  return { nowMs, monotonicMs: nowMs, sleep: () => Promise.resolve() };
}

type Published = Parameters<typeof publishReport>;
type PublishAsked = Partial<Published[3] & Published[4]> & {
  readonly report?: string;
  readonly declaration?: Published[2];
};

export function publish(of: Mirror | string, asked: PublishAsked = {}) {
  const mirror = typeof of === "string" ? of : of.db.name;
  const { report = mirror.replace(/\.db$/, ".report.db"), declaration: declared = declaration } = asked;
  const about = { company: "acme", timezone: "Europe/Bratislava", version: "1.2.3", clock: clockAt(testDay) };
  const { signal } = new AbortController();
  return publishReport(mirror, report, declared, { ...about, ...asked }, { signal, ...asked });
}

const notCompared = new Set(["published_at", "log"]);

/** Publishes anew: all rows of the report, and what `_about` says of it besides when it was made. */
export async function publishedContent(mirror: Mirror | string, asked: PublishAsked) {
  const { file } = await publish(mirror, { ...asked, force: true, way: "anew" });
  using db = openDatabase(file, { readonly: true });
  const names = db.prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name");
  const rows = (names.pluck().all() as string[])
    .filter((name) => !name.startsWith("sqlite_"))
    .map((name) => [name, db.prepare(`SELECT * FROM "${name}" ORDER BY 1, 2`).all()] as const);
  const { _about: about, ...tables } = Object.fromEntries(rows) as Record<string, Row[]>;
  return { ...tables, about: about?.filter(({ fact }) => !notCompared.has(String(fact))) };
}

/** Opens a report for reading, until the test ends. */
export function reading(file: string): Db {
  const db = openDatabase(file, { readonly: true });
  onTestFinished(() => void db.close());
  return db;
}

/** A report in memory with the real tables and views, and nothing in them but two currencies. */
export function emptySummary(): Db {
  const db = openDatabase(":memory:");
  onTestFinished(() => void db.close());
  const { tables, views } = layoutOf(declaration, tablesOfConnector(declaration));
  for (const table of tables) db.exec(tableSql(table));
  db.exec("CREATE TABLE _about (subject TEXT, fact TEXT, value TEXT)");
  db.exec("INSERT INTO _about VALUES ('report', 'report_date', '2026-11-20')");
  for (const view of views) createView(db, "main", view);
  db.exec("INSERT INTO currencies (id, symbol) VALUES (1, 'EUR'), (2, 'CZK')");
  return db;
}

export function rowsOf(db: Db, sql: string): Row[] {
  return db.prepare(sql).all() as Row[];
}

export function sorted(rows: readonly Row[]): Row[] {
  return rows.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
}

function textOf(row: Row): string {
  return JSON.stringify(Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
