import { MirrorError } from "../../base/errors.ts";
import { snakeCase, unknownName } from "../../base/names.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import type { ExportRequest } from "./export-request.ts";
import type { SnapshotTable } from "../../store/snapshot/snapshot-tables.ts";

/**
 * The tables and views to export: those named, or all tables; with `nested` without child tables, which are
 * columns of their parents then.
 *
 * @throws MirrorError `usage`: an unknown name, or with `since` a view
 */
export function chosenTables(
  tables: readonly SnapshotTable[],
  { tables: names, nested, since }: Pick<ExportRequest, "tables" | "nested" | "since">,
): SnapshotTable[] {
  for (const name of names) assertKnown(tables, name);
  const chosen = tables.filter(({ name, kind }) =>
    names.length > 0 ? names.includes(name) : kind === "table" || (kind === "child" && !nested),
  );
  const unchanging =
    since !== null ? chosen.find(({ kind }) => kind !== "table" && kind !== "child") : undefined;
  if (!unchanging) return chosen;
  throw new MirrorError(
    "usage",
    `${unchanging.name} is no table of the service: it has no changes of its own`,
    { hint: "With --since, name tables only." },
  );
}

function assertKnown(tables: readonly SnapshotTable[], name: string): void {
  const known = tables.map((table) => table.name);
  if (known.includes(name)) return;
  throw new MirrorError("usage", unknownName("table", name, known), {
    hint: "`fintoro-mirror schema --tables` lists them all",
  });
}

/**
 * The column that a table is partitioned and limited by: its first date that is never null (`issue_date`,
 * `payment_date`), of a view the date or month that the connector declares. Null: it has none.
 */
export function documentDate(manifest: Manifest, table: SnapshotTable): string | null {
  if (table.kind === "view") return table.view?.date ?? null;
  const resource = manifest.resources.find(({ name }) => name === table.name);
  const fields = Object.entries(resource?.fields ?? {});
  const found = fields.find(
    ([, field]) => field.shape === "scalar" && field.type === "date" && !field.nullable,
  );
  return found ? snakeCase(found[0]) : null;
}
