/** `INSERT … ON CONFLICT(key) DO UPDATE SET` every other column; parameters in the order of `columns`. */
export function upsertSql(table: string, key: string, columns: readonly string[]): string {
  const others = columns.filter((column) => column !== key).map(quoted);
  const changes = others.map((column) => `${column} = excluded.${column}`).join(", ");
  return `${insertSql(table, columns)} ON CONFLICT (${quoted(key)}) DO UPDATE SET ${changes}`;
}

/**
 * `INSERT` of one or several rows; parameters in the order of `columns`. Names are never keys of an object here:
 * JavaScript puts a column called `1` first.
 */
export function insertSql(table: string, columns: readonly string[], rows = 1): string {
  const row = `(${columns.map(() => "?").join(", ")})`;
  const values = Array.from({ length: rows }, () => row).join(", ");
  return `INSERT INTO ${quoted(table)} (${columns.map(quoted).join(", ")}) VALUES ${values}`;
}

/** `"name"` with inner quotes doubled: names can come from the service. */
export function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}
