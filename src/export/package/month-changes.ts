import type { ChangeSheet, MonthPackage, ReportView } from "../../connector/report-view.ts";
import { shownColumn, type Translation } from "../../connector/translation.ts";
import type { Snapshot } from "../../state/mirror-snapshot.ts";
import { quoted } from "../../store/sql-text.ts";
import type { MonthPeriod } from "../plan/period.ts";

type SheetRow = Readonly<Record<string, string | number | null>>;

/** What changed in a month between two moments; rows of the sheets that show it. */
export type MonthChanges = ReturnType<typeof monthChanges>;

/**
 * Compares the sheets of a month as they were with what they are: the old sheets and these changes give the new sheets.
 * Both snapshots are of one log.
 */
export function monthChanges(
  then: Snapshot,
  now: Snapshot,
  { sheets, changes }: MonthPackage,
  period: MonthPeriod,
  words: Translation | null,
) {
  const changed = sheets.flatMap((sheet) => {
    const resource = changes.documents[sheet.name];
    return resource === undefined ? [] : changedDocuments(then, now, sheet, resource, period, words);
  });
  const vat = sheets.find(({ name }) => name === changes.vat);
  return { changed, corrected: vat ? correctedRows(then, now, vat, period) : [] };
}

export function sheetOf(sheet: ChangeSheet, rows: readonly SheetRow[]): ReportView {
  const cells = sheet.columns.map(({ name }) => `value ->> '${name}' AS ${quoted(name)}`);
  const text = JSON.stringify(rows).replaceAll("'", "''");
  return { ...sheet, sql: `SELECT ${cells.join(", ")} FROM json_each('${text}')` };
}

function changedDocuments(
  then: Snapshot,
  now: Snapshot,
  sheet: ReportView,
  resource: string,
  period: MonthPeriod,
  words: Translation | null,
): SheetRow[] {
  const before = rowsById(then, sheet, period);
  const after = rowsById(now, sheet, period);
  const ids = [...new Set([...before.keys(), ...after.keys()])];
  const columns = sheet.columns.map((column) => ({ name: column.name, ...shownColumn(words, column) }));
  return ids.flatMap((id) => {
    // A document of another month was moved; one that is nowhere is new, or was deleted.
    const old = before.get(id) ?? rowOf(then, sheet, id);
    const present = after.get(id) ?? rowOf(now, sheet, id);
    const isMoved = before.has(id) !== after.has(id);
    const change = !old ? "added" : !present ? "deleted" : isMoved ? "moved" : "changed";
    const fields = columns
      .map((column) => ({ ...column, old: old?.[column.name] ?? null, new: present?.[column.name] ?? null }))
      .filter((field) => (isMoved ? (field.old ?? field.new) !== null : field.old !== field.new));
    const seen = fields.length > 0 ? lastChange(now, resource, id, then.seq) : {};
    return fields.map((field) => ({
      month: period.from.slice(0, 7),
      document: (present ?? old)?.["number"] ?? id,
      change,
      field: field.heading,
      old: field.values.get(field.old ?? "") ?? field.old,
      new: field.values.get(field.new ?? "") ?? field.new,
      ...seen,
    }));
  });
}

function rowsById({ db }: Snapshot, { sql, date }: ReportView, period: MonthPeriod) {
  const rows = db.prepare(`SELECT * FROM (${sql}) WHERE ${quoted(date ?? "")} BETWEEN ? AND ? ORDER BY id`);
  return new Map((rows.all(period.from, period.to) as SheetRow[]).map((row) => [row["id"] ?? null, row]));
}

function rowOf({ db }: Snapshot, { sql }: ReportView, id: unknown): SheetRow | undefined {
  return db.prepare(`SELECT * FROM (${sql}) WHERE id = ?`).get(id) as SheetRow | undefined;
}

function lastChange({ db }: Snapshot, resource: string, id: unknown, after: number): SheetRow {
  const sql = `SELECT r.at AS seen_at, r.cause AS cause FROM _change_log l JOIN _reads r ON r.id = l.read
    WHERE l.seq > ? AND l.resource = ? AND l.record_id = ? ORDER BY l.seq DESC LIMIT 1`;
  return (db.prepare(sql).get(after, resource, id) as SheetRow | undefined) ?? {};
}

/** Rows that stand on one side only, the old ones with code 1 and the new ones with code 2. */
function correctedRows(then: Snapshot, now: Snapshot, sheet: ReportView, period: MonthPeriod): SheetRow[] {
  const { sql, date, columns } = sheet;
  const shown = columns.map(({ name }) => quoted(name)).join(", ");
  const all = `SELECT ${shown} FROM (${sql}) WHERE ${quoted(date ?? "")} BETWEEN ? AND ? ORDER BY ${shown}`;
  const rowsIn = ({ db }: Snapshot) => {
    const rows = db.prepare(all).all(period.from, period.to) as SheetRow[];
    return new Map(rows.map((row) => [JSON.stringify(row), row]));
  };
  const [old, present] = [rowsIn(then), rowsIn(now)];
  const oneSided = (rows: typeof old, others: typeof old, code: number) =>
    [...rows].flatMap(([key, row]) => (others.has(key) ? [] : [{ code, ...row }]));
  const rows = [...oneSided(old, present, 1), ...oneSided(present, old, 2)];
  const place = (row: SheetRow) =>
    `${String(row["number"])} ${String(row["vat_rate"]).padStart(6)} ${String(row["code"])}`;
  return rows.toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
}
