import { existsSync, mkdirSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { DuckDBInstance, type DuckDBConnection } from "@duckdb/node-api";
import { onTestFinished } from "vitest";
import { dayMs } from "../../../src/base/clock.ts";
import type { ReportType } from "../../../src/connector/report-view.ts";
import { commitSnapshot } from "../../../src/fleet/postgres/catalogue/commit-snapshot.ts";
import type { CountingFile } from "../../../src/fleet/postgres/catalogue/plan-snapshot.ts";
import type { Postgres } from "../../../src/fleet/postgres/connection.ts";
import { blocks } from "../docs/docs.ts";
import { duckRows, textRows } from "../export/export.ts";
import { tempFolder } from "../temporary-folder.ts";
import { openFleet, type Fleet } from "./fleet.ts";

/** Where DuckDB has its extensions: here it downloads none. */
const given = process.env["DUCKDB_EXTENSIONS"];
const extensionFolder = given ?? path.join(os.homedir(), ".duckdb/extensions");
const [[release, platform] = []] = await duckRows("SELECT version(), platform FROM pragma_platform()");
const ofRelease = path.join(extensionFolder, release ?? "", platform ?? "");
const isInstalled = ["ducklake", "postgres_scanner"].every((name) =>
  existsSync(path.join(ofRelease, `${name}.duckdb_extension`)),
);
if (given !== undefined && !isInstalled) throw new Error(`DuckDB's extensions are not in ${ofRelease}`);

/** Who reads a catalogue: what its specification says in SQL, and DuckDB's extension where this machine has it. */
export type LakeReader = "SQL on its tables" | "DuckDB's extension";

export const lakeReaders: readonly LakeReader[] = [
  "SQL on its tables",
  ...(isInstalled ? (["DuckDB's extension"] as const) : []),
];

export interface TestTable {
  readonly columns: Readonly<Record<string, ReportType>>;
  /** SQL values, row by row. */
  readonly rows: readonly string[];
  /** Of a view. */
  readonly day?: string;
}

/** Rows as text. `FROM name` reads what the catalogue had then, or has. */
type Ask = (sql: string, at?: string) => Promise<(string | null)[][]>;

export async function openLake(reader: LakeReader, fleet: Pick<Fleet, "url" | "postgres">): Promise<Ask> {
  const duck = await openDuck();
  return reader === "SQL on its tables" ? askTables(fleet, duck) : askExtension(fleet, duck);
}

async function openDuck(): Promise<DuckDBConnection> {
  const instance = await DuckDBInstance.create(":memory:");
  const duck = await instance.connect();
  onTestFinished(() => {
    duck.closeSync();
    instance.closeSync();
  });
  return duck;
}

export type TestLake = Awaited<ReturnType<typeof aLake>>;

/** A folder of published files, and the catalogue of them. */
export async function aLake(reader: LakeReader) {
  const fleet = await openFleet();
  const folder = `${tempFolder()}/`;
  const duck = await openDuck();
  const counting = new Map<string, Map<string, CountingFile>>();
  let number = 0;
  /** Publishes these tables of a company, each in a new file; tables that are not named keep theirs. */
  const publish = async (company: string, tables: Readonly<Record<string, TestTable | null>>) => {
    const files = counting.get(company) ?? new Map<string, CountingFile>();
    counting.set(company, files);
    for (const [name, table] of Object.entries(tables)) {
      files.delete(name);
      if (table) files.set(name, await writeFile(duck, folder, { company, name, number: ++number }, table));
    }
    await fleet.add(company);
    await fleet.postgres.query(
      `INSERT INTO fintoro_mirror.reports (company, epoch, number, published_at, seq, files, old)
       VALUES ($1, 1, 1, clock_timestamp(), 1, $2::jsonb, '{}')
       ON CONFLICT (company) DO UPDATE SET published_at = excluded.published_at, files = excluded.files`,
      [company, JSON.stringify([...files.values()])],
    );
  };
  return {
    ...fleet,
    folder,
    publish,
    /** How many companies were looked at. */
    commit: (keptMs = dayMs) => commitSnapshot(fleet.postgres, folder, keptMs),
    /** Postgres' time, or so long before it. */
    now: async (ago = "0 s") => {
      const sql = "SELECT (clock_timestamp() + $1::interval)::text AS now";
      const [row] = await fleet.postgres.query<{ now: string }>(sql, [ago]);
      return row?.now ?? "";
    },
    ask: await openLake(reader, fleet),
    /** Has DuckDB's extension make a catalogue of its own in this schema. */
    makeOther: async (schema: string) => {
      await duck.run(loadExtensions);
      const options = `DATA_PATH '${folder}', METADATA_SCHEMA '${schema}'`;
      await duck.run(`ATTACH 'ducklake:postgres:${fleet.url}' AS ${schema} (${options})`);
    },
  };
}

const duckTypes: Readonly<Record<string, string>> = {
  INTEGER: "BIGINT",
  REAL: "DOUBLE",
  TEXT: "VARCHAR",
  TIMESTAMP: "TIMESTAMPTZ",
};

async function writeFile(
  duck: DuckDBConnection,
  folder: string,
  { company, name, number }: { readonly company: string; readonly name: string; readonly number: number },
  { columns, rows, day }: TestTable,
): Promise<CountingFile> {
  const below = [`company=${company}`, name, ...(day === undefined ? [] : [`report_date=${day}`])].join("/");
  const key = `${below}/data-1-${number}.parquet`;
  mkdirSync(path.join(folder, below), { recursive: true });
  const types = Object.entries(columns).map(([column, type]) => `"${column}" ${duckTypes[type] ?? type}`);
  await duck.run(`CREATE OR REPLACE TABLE made (${types.join(", ")})`);
  if (rows.length > 0) await duck.run(`INSERT INTO made VALUES ${rows.map((row) => `(${row})`).join(", ")}`);
  await duck.run(`COPY made TO '${folder}${key}' (FORMAT parquet)`);
  const named = Object.entries(columns).map(([column, type]) => ({ name: column, type }));
  return { name, key, rows: rows.length, bytes: statSync(`${folder}${key}`).size, columns: named };
}

const named = /FROM (\w+)/g;

const loadExtensions = `SET extension_directory = '${extensionFolder}'; LOAD postgres_scanner; LOAD ducklake`;

/** What the page about many machines has for Postgres, and for DuckDB. */
export const pageSql = blocks
  .filter(({ marks }) => marks[1] === "test/fleet/catalogue/catalogue.test.ts")
  .map(({ text }) => text);

/** As a user with the rights of the page about many machines, over one connection all the time. */
function askExtension({ url, postgres }: Pick<Fleet, "url" | "postgres">, duck: DuckDBConnection): Ask {
  const open = async () => {
    const naming = "SELECT 'reader_' || current_database() AS name";
    const [{ name } = { name: "" }] = await postgres.query<{ name: string }>(naming);
    const [rights = "", [attach = ""] = []] = [pageSql[0], pageSql[1]?.split(";")];
    await postgres.query(rights.replaceAll("reader", name));
    await duck.run(loadExtensions);
    await duck.run(attach.replace(/postgres:\/\/[^']+/, url.replace("postgres@", `${name}@`)));
  };
  let opened: Promise<void> | null = null;
  return async (sql, at) => {
    await (opened ??= open());
    const when = at === undefined ? "" : ` AT (TIMESTAMP => TIMESTAMPTZ '${at}')`;
    return textRows(duck, sql.replaceAll(named, `FROM lake.$1${when}`));
  };
}

function askTables({ postgres }: Pick<Fleet, "postgres">, duck: DuckDBConnection): Ask {
  return async (sql, at = "infinity") => {
    const [, table = ""] = /FROM (\w+)/.exec(sql) ?? [];
    const read = `FROM (${await tableAt(postgres, table, at)}) AS ${table}`;
    return textRows(duck, sql.replaceAll(named, read));
  };
}

const inDuck = (type: string) => type.replace("float64", "DOUBLE").replace("int64", "BIGINT");

/** A table as the specification has readers find it. */
async function tableAt(postgres: Postgres, table: string, at: string): Promise<string> {
  const parts = await postgres.query<{ columns: [string, string][]; files: string[] | null }>(
    `WITH s AS (SELECT max(snapshot_id) AS id FROM fintoro_lake.ducklake_snapshot WHERE snapshot_time <= $2::timestamptz),
       t AS (SELECT table_id FROM s, fintoro_lake.ducklake_table WHERE table_name = $1 AND begin_snapshot <= id)
     SELECT (SELECT json_agg(json_build_array(column_name, column_type) ORDER BY column_order)
         FROM s, t JOIN fintoro_lake.ducklake_column USING (table_id)
         WHERE begin_snapshot <= id AND (end_snapshot IS NULL OR end_snapshot > id)) AS columns,
       (SELECT json_agg(value || path) FROM s, t JOIN fintoro_lake.ducklake_data_file USING (table_id),
         fintoro_lake.ducklake_metadata
         WHERE begin_snapshot <= id AND (end_snapshot IS NULL OR end_snapshot > id) AND key = 'data_path') AS files`,
    [table, at],
  );
  const [{ columns, files } = { columns: [], files: null }] = parts;
  const typed = columns.map(([name, type]) => [`"${name}"`, inDuck(type)]);
  const none = `SELECT ${typed.map(([name, type]) => `NULL::${type} AS ${name}`).join(", ")} WHERE false`;
  if (files === null) return none;
  const options = "hive_partitioning = true, hive_types_autocast = false";
  const read = files.map((file) => `(FROM read_parquet('${file}', ${options}))`);
  const cast = typed.map(([name, type]) => `CAST(${name} AS ${type}) AS ${name}`).join(", ");
  return `SELECT ${cast} FROM (${[none, ...read].join(" UNION ALL BY NAME ")})`;
}
