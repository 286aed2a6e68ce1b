import { MirrorError } from "../../base/errors.ts";
import { nearest, snakeCase } from "../../base/names.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import type { SnapshotTable } from "../../store/snapshot/snapshot-tables.ts";

/** What is exported: the tables and views named, or all tables; with `nested` without those that others hold. */
export function chosenTables(
  tables: readonly SnapshotTable[],
  names: readonly string[],
  how: { readonly nested: boolean; readonly since: boolean },
): SnapshotTable[] {
  for (const name of names) assertKnown(tables, name);
  const chosen =
    names.length > 0 ? tables.filter(({ name }) => names.includes(name)) : all(tables, how.nested);
  const still = how.since ? chosen.find(({ kind }) => kind !== "table" && kind !== "child") : undefined;
  if (!still) return chosen;
  throw new MirrorError("usage", `${still.name} is no table of the service: it has no changes of its own`, {
    hint: "With --since, name tables only.",
  });
}

function all(tables: readonly SnapshotTable[], nested: boolean): SnapshotTable[] {
  return tables.filter(({ kind }) => kind === "table" || (kind === "child" && !nested));
}

function assertKnown(tables: readonly SnapshotTable[], name: string): void {
  const known = tables.map((table) => table.name);
  if (known.includes(name)) return;
  const meant = nearest(name, known);
  throw new MirrorError("usage", `unknown table "${name}"${meant ? `; did you mean "${meant}"?` : ""}`, {
    hint: "`fintoro-mirror schema --tables` lists them all",
  });
}

/**
 * The date that a table is partitioned by: the first date that every one of its records has (`issue_date`,
 * `payment_date`), of a view its first date. Null: it has none, and stays in one file.
 */
export function documentDate(manifest: Manifest, table: SnapshotTable): string | null {
  if (table.kind === "view") return table.columns.find(({ type }) => type === "DATE")?.name ?? null;
  const resource = manifest.resources.find(({ name }) => name === table.name);
  const fields = Object.entries(resource?.fields ?? {});
  const found = fields.find(
    ([, field]) => field.shape === "scalar" && field.type === "date" && !field.nullable,
  );
  return found ? snakeCase(found[0]) : null;
}
