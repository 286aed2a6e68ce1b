import { assert } from "../../../base/errors.ts";
import type { Postgres, Sql } from "../connection.ts";
import { planSnapshot, type Catalogue, type CountingFile, type SnapshotPlan } from "./plan-snapshot.ts";

/** Any number that no other program takes for its advisory locks. */
const commitLock = 5_640_917_273_002;
const mostCompanies = 200;

/**
 * Commits a snapshot of DuckLake 1.0 with what companies have published since the last one, and forgets snapshots that
 * are older than files are kept. Other programs only read schema `fintoro_lake`.
 *
 * Guarantee: all of it is one transaction, and of several nodes one commits. A snapshot has of a company all that it
 * published at one time, and nothing of one that left the fleet.
 * Source of truth: table `reports`. Of a schema that was dropped only the history is lost.
 * Worst outcome of a crash: the last snapshot stays the last one until the next call.
 *
 * @param dataPath where the files are, with `/` at its end
 * @returns how many companies it looked at; 0: the last snapshot has what is published, or another node commits
 */
export function commitSnapshot(postgres: Postgres, dataPath: string, keptMs: number): Promise<number> {
  return postgres.transaction(async (sql) => {
    const lock = "SELECT pg_try_advisory_xact_lock($1::bigint) AS taken";
    const [locked] = await sql.query<{ taken: boolean }>(lock, [commitLock]);
    if (!locked?.taken) return 0;
    await createCatalogue(sql);
    const notePath = "UPDATE fintoro_lake.ducklake_metadata SET value = $1 WHERE key = 'data_path'";
    await sql.query(notePath, [dataPath]);
    await sql.query(forgetSnapshots, [keptMs]);
    const changed = await sql.query<ChangedCompany>(changedCompanies, [mostCompanies]);
    if (changed.length === 0) return 0;
    const companies = changed.map(({ company }) => company);
    const counting = changed.flatMap(({ files }) => files);
    const plan = planSnapshot(await readCatalogue(sql, companies), counting);
    if (plan) await writeSnapshot(sql, plan);
    await sql.query("DELETE FROM fintoro_lake.companies WHERE company = ANY ($1)", [companies]);
    const present = changed.flatMap(({ company, published_at }) =>
      published_at === null ? [] : [{ company, published_at }],
    );
    await insert(sql, "companies", present);
    return changed.length;
  });
}

interface ChangedCompany {
  readonly company: string;
  /** Null: it left the fleet. */
  readonly published_at: string | null;
  readonly files: readonly CountingFile[];
}

/** Companies of which the last snapshot has not what they published last. */
const changedCompanies = `
  SELECT company, published_at::text, coalesce(jsonb_path_query_array(files, '$[*] ? (@.rows != null)'), '[]') AS files
  FROM (
    SELECT company, r.published_at, files
    FROM fintoro_lake.companies l FULL JOIN (
      SELECT company, published_at, files FROM fintoro_mirror.reports JOIN fintoro_mirror.companies c ON c.name = company
      WHERE published_at IS NOT NULL AND NOT c.removed) r USING (company)
    WHERE r.published_at IS DISTINCT FROM l.published_at ORDER BY company LIMIT $1) changed`;

/** How many companies published something over ten minutes ago that no snapshot has: no commit is made, or it fails. */
export async function countLateCompanies(sql: Sql): Promise<number> {
  const committed = (await isCreated(sql)) ? "SELECT company, published_at FROM fintoro_lake.companies" : "";
  const late = `SELECT count(*)::integer AS companies FROM (
      SELECT company, published_at FROM fintoro_mirror.reports JOIN fintoro_mirror.companies c ON c.name = company
      WHERE greatest(published_at, c.added_at) < clock_timestamp() - interval '10 minutes' AND NOT c.removed
      ${committed && `EXCEPT ${committed}`}) published`;
  return (await sql.query<{ companies: number }>(late))[0]?.companies ?? 0;
}

async function readCatalogue(sql: Sql, companies: readonly string[]): Promise<Catalogue> {
  const last = "SELECT * FROM fintoro_lake.ducklake_snapshot ORDER BY snapshot_id DESC LIMIT 1";
  const [snapshot] = await sql.query<Catalogue["snapshot"]>(last);
  assert(snapshot, "the catalogue is made with a snapshot");
  const tables = await sql.query<Catalogue["tables"][number]>(
    `SELECT table_id, table_name, next_row_id, m.mapping_id, c.columns
     FROM fintoro_lake.ducklake_table JOIN fintoro_lake.ducklake_table_stats USING (table_id)
     JOIN (SELECT table_id, max(mapping_id) AS mapping_id FROM fintoro_lake.ducklake_column_mapping GROUP BY 1) m
       USING (table_id)
     JOIN (SELECT table_id, jsonb_agg(c ORDER BY column_id) AS columns FROM (SELECT table_id, column_id,
         column_name, column_type FROM fintoro_lake.ducklake_column WHERE end_snapshot IS NULL) c GROUP BY 1) c
       USING (table_id)`,
  );
  const files = await sql.query<Catalogue["files"][number]>(
    `SELECT data_file_id, table_id, path FROM fintoro_lake.ducklake_data_file
     WHERE end_snapshot IS NULL AND split_part(path, '/', 1) = ANY ($1)`,
    [companies.map((company) => `company=${company}`)],
  );
  return { snapshot, tables, files };
}

/** Those of which this snapshot has a new row. */
const endColumns = `
  UPDATE fintoro_lake.ducklake_column c SET end_snapshot = $1 FROM fintoro_lake.ducklake_column n
  WHERE n.begin_snapshot = $1 AND c.table_id = n.table_id AND c.column_id = n.column_id
    AND c.begin_snapshot < $1 AND c.end_snapshot IS NULL`;

async function writeSnapshot(sql: Sql, { snapshot, endedFiles, rows }: SnapshotPlan): Promise<void> {
  const { snapshot_id, schema_version, next_catalog_id, next_file_id } = snapshot;
  const endFiles =
    "UPDATE fintoro_lake.ducklake_data_file SET end_snapshot = $1 WHERE data_file_id = ANY ($2)";
  await sql.query(endFiles, [snapshot_id, endedFiles]);
  for (const [table, some] of rows) await insert(sql, `ducklake_${table}`, some);
  if (rows.has("column")) await sql.query(endColumns, [snapshot_id]);
  // Later than the one before, whatever the clock shows.
  await sql.query(
    `INSERT INTO fintoro_lake.ducklake_snapshot SELECT $1, greatest(clock_timestamp(),
       max(snapshot_time) + interval '1 microsecond'), $2, $3, $4 FROM fintoro_lake.ducklake_snapshot`,
    [snapshot_id, schema_version, next_catalog_id, next_file_id],
  );
}

/** What the rows do not name is as the table has it by default. */
async function insert(sql: Sql, table: string, rows: readonly object[]): Promise<void> {
  const name = `fintoro_lake.${table}`;
  const columns = Object.keys(rows[0] ?? {}).join(", ");
  if (columns === "") return;
  const records = `jsonb_populate_recordset(null::${name}, $1::jsonb)`;
  const text = `INSERT INTO ${name} (${columns}) SELECT ${columns} FROM ${records}`;
  await sql.query(text, [JSON.stringify(rows)]);
}

/** All before the one that was the last one when the time began in which files are kept. */
const forgetSnapshots = `
  WITH oldest AS (
      SELECT max(snapshot_id) AS id FROM fintoro_lake.ducklake_snapshot
      WHERE snapshot_time < now() - $1::float8 * interval '1 millisecond'),
    files AS (DELETE FROM fintoro_lake.ducklake_data_file USING oldest WHERE end_snapshot <= id),
    columns AS (DELETE FROM fintoro_lake.ducklake_column USING oldest WHERE end_snapshot <= id),
    changes AS (DELETE FROM fintoro_lake.ducklake_snapshot_changes USING oldest WHERE snapshot_id < id)
  DELETE FROM fintoro_lake.ducklake_snapshot USING oldest WHERE snapshot_id < id`;

async function isCreated(sql: Sql): Promise<boolean> {
  const found = "SELECT FROM pg_tables WHERE schemaname = 'fintoro_lake' AND tablename = 'companies'";
  return (await sql.query(found)).length > 0;
}

async function createCatalogue(sql: Sql): Promise<void> {
  if (await isCreated(sql)) return;
  const tables = Object.entries(duckLakeTables).map(([name, columns]) => {
    const typed = columns.split(/,\s+/).map((column) => (column.includes(" ") ? column : `${column} bigint`));
    return `CREATE TABLE fintoro_lake.ducklake_${name} (${typed.join(", ")});`;
  });
  await sql.query(`CREATE SCHEMA IF NOT EXISTS fintoro_lake; ${tables.join("")} ${views} ${firstRows}`);
}

const range = "begin_snapshot, end_snapshot";
const path = "path varchar DEFAULT '', path_is_relative boolean DEFAULT true";
const tag = `${range}, key varchar, value varchar`;
const sizes = "file_size_bytes, footer_size";
const least = "min_value varchar, max_value varchar";
const sql = "dialect varchar, sql varchar";
const preset = "default_value varchar, default_value_type varchar";

/**
 * The tables of DuckLake 1.0 by its specification, with what is always the same as defaults; what has no type here is a
 * `bigint`. The last ones stay empty.
 */
const duckLakeTables = {
  metadata: "key varchar NOT NULL, value varchar NOT NULL, scope varchar, scope_id",
  snapshot:
    "snapshot_id bigint PRIMARY KEY, snapshot_time timestamptz, schema_version, next_catalog_id, next_file_id",
  snapshot_changes: `snapshot_id bigint PRIMARY KEY, changes_made varchar, author varchar DEFAULT 'fintoro-mirror', commit_message varchar,
    commit_extra_info varchar`,
  schema: `schema_id bigint PRIMARY KEY, schema_uuid uuid, ${range}, schema_name varchar, ${path}`,
  schema_versions: "begin_snapshot, schema_version, table_id",
  table: `table_id, table_uuid uuid DEFAULT gen_random_uuid(), ${range}, schema_id bigint DEFAULT 0, table_name varchar, ${path}`,
  column: `column_id, ${range}, table_id, column_order, column_name varchar, column_type varchar,
    initial_default varchar, default_value varchar, nulls_allowed boolean DEFAULT true, parent_column, default_value_type varchar,
    default_value_dialect varchar`,
  column_mapping: "mapping_id, table_id, type varchar DEFAULT 'map_by_name'",
  data_file: `data_file_id bigint PRIMARY KEY, table_id, ${range}, file_order, ${path}, file_format varchar DEFAULT 'parquet', record_count,
    ${sizes}, row_id_start, partition_id, encryption_key varchar, mapping_id, partial_max`,
  column_tag: `table_id, column_id, ${tag}`,
  delete_file: `delete_file_id bigint PRIMARY KEY, table_id, ${range}, data_file_id, ${path}, format varchar,
    delete_count, ${sizes}, encryption_key varchar, partial_max`,
  file_partition_value: "data_file_id, table_id, partition_key_index, partition_value varchar",
  file_variant_stats: `data_file_id, table_id, column_id, variant_path varchar, shredded_type varchar,
    column_size_bytes, value_count, null_count, ${least}, contains_nan boolean, extra_stats varchar`,
  files_scheduled_for_deletion: `data_file_id, ${path}, schedule_start timestamptz`,
  inlined_data_tables: "table_id, table_name varchar, schema_version",
  macro: `schema_id, macro_id, macro_name varchar, ${range}`,
  macro_impl: `macro_id, impl_id, ${sql}, type varchar`,
  macro_parameters: `macro_id, impl_id, column_id, parameter_name varchar, parameter_type varchar, ${preset}`,
  partition_column: "partition_id, table_id, partition_key_index, column_id, transform varchar",
  partition_info: `partition_id, table_id, ${range}`,
  sort_expression: `sort_id, table_id, sort_key_index, expression varchar, dialect varchar, sort_direction varchar,
    null_order varchar`,
  sort_info: `sort_id, table_id, ${range}`,
  table_column_stats: `table_id, column_id, contains_null boolean, contains_nan boolean, ${least}, extra_stats varchar`,
  tag: `object_id, ${tag}`,
  view: `view_id, view_uuid uuid, ${range}, schema_id, view_name varchar, ${sql}, column_aliases varchar`,
};

/** Tables of DuckLake that follow from the others. By the values of paths a query of one company opens no other's files. */
const views = `
  CREATE VIEW fintoro_lake.ducklake_table_stats AS
    SELECT table_id, coalesce(sum(record_count) FILTER (WHERE f.end_snapshot IS NULL), 0)::bigint AS record_count,
      coalesce(max(row_id_start + record_count), 0) AS next_row_id,
      coalesce(sum(file_size_bytes) FILTER (WHERE f.end_snapshot IS NULL), 0)::bigint AS file_size_bytes
    FROM fintoro_lake.ducklake_table LEFT JOIN fintoro_lake.ducklake_data_file f USING (table_id) GROUP BY table_id;
  CREATE VIEW fintoro_lake.ducklake_name_mapping AS
    SELECT mapping_id, column_id, column_name AS source_name, column_id AS target_field_id,
      NULL::bigint AS parent_column,
      column_name = 'company' OR column_name = 'report_date' AND mapping_id % 2 = 1 AS is_partition
    FROM fintoro_lake.ducklake_column_mapping JOIN fintoro_lake.ducklake_column USING (table_id)
    WHERE end_snapshot IS NULL;
  CREATE VIEW fintoro_lake.ducklake_file_column_stats AS
    SELECT data_file_id, table_id, column_id, NULL::bigint AS column_size_bytes, record_count AS value_count,
      0::bigint AS null_count, part::varchar AS min_value, part::varchar AS max_value, NULL::boolean AS contains_nan,
      NULL::varchar AS extra_stats
    FROM fintoro_lake.ducklake_data_file f JOIN fintoro_lake.ducklake_name_mapping USING (mapping_id),
      substring(path FROM source_name || '=([^/]*)') part
    WHERE is_partition;`;

/** What DuckLake does not have: as of which publication each company is in the last snapshot. */
const firstRows = `
  CREATE TABLE fintoro_lake.companies (company text PRIMARY KEY, published_at timestamptz NOT NULL);
  CREATE INDEX ON fintoro_lake.ducklake_data_file (table_id);
  CREATE INDEX ON fintoro_lake.ducklake_data_file (split_part(path, '/', 1)) WHERE end_snapshot IS NULL;
  CREATE INDEX ON fintoro_lake.ducklake_data_file (end_snapshot) WHERE end_snapshot IS NOT NULL;
  INSERT INTO fintoro_lake.ducklake_metadata (key, value) VALUES
    ('version', '1.0'), ('created_by', 'fintoro-mirror'), ('data_path', ''), ('encrypted', 'false');
  INSERT INTO fintoro_lake.ducklake_schema VALUES (0, gen_random_uuid(), 0, NULL, 'main', '', true);
  INSERT INTO fintoro_lake.ducklake_snapshot VALUES (0, clock_timestamp(), 0, 1, 0);
  INSERT INTO fintoro_lake.ducklake_snapshot_changes (snapshot_id, changes_made) VALUES (0, 'created_schema:"main"')`;
