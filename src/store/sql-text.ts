/** `INSERT … ON CONFLICT (id) DO UPDATE SET` every other column; parameters: the id, and in the order of `others`. */
export function upsertSql(table: string, others: readonly string[]): string {
  const changes = others.map(quoted).map((column) => `${column} = excluded.${column}`);
  return `${insertSql(table, ["id", ...others])} ON CONFLICT (id) DO UPDATE SET ${changes.join(", ")}`;
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
