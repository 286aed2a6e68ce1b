import { recordId, type RecordId, type RecordRef } from "../../base/ids.ts";
import { snakeCase } from "../../base/names.ts";
import type { Resource } from "../../connector/resource.ts";
import { prepared, type Db } from "../database.ts";
import { quoted } from "../sql-text.ts";
import { Repository } from "../own-tables/statement.ts";
import { fenceTable, rawTable } from "./table-layout.ts";

/** Does the mirror know the resource? An older version that wrote it last may not: it holds none of its records. */
export function knowsResource(db: Db, resource: string): boolean {
  const sql = "SELECT 1 FROM pragma_table_info(?) LIMIT 1";
  return prepared(db, knowsResource, sql, "rows", () => sql).get(fenceTable(resource)) !== undefined;
}

/** Reads what the mirror holds of resources: rows and fences. Never writes. */
export class Records extends Repository {
  /** How many records are live, how many of these are provisional, and how many tombstones there are. */
  counts(resource: string): Readonly<Record<"live" | "deleted" | "provisional", number>> {
    if (!knowsResource(this.db, resource)) return { live: 0, deleted: 0, provisional: 0 };
    const count = (where: string) => `(SELECT count(*) FROM ${fence(resource)} ${where})`;
    const gone = count("WHERE gone = 1");
    const sql = `SELECT ${count("")} - ${gone} AS live, ${gone} AS deleted,
      ${count("WHERE gone = 0 AND source = 'preview'")} AS provisional`;
    return this.statement(sql).get() as ReturnType<Records["counts"]>;
  }

  isLive(resource: string, id: RecordId): boolean {
    return this.exists(`SELECT 1 FROM ${fence(resource)} WHERE id = ? AND gone = 0`, id);
  }

  /** Live records last received before `beforeSeq`: those that a sweep begun then must show. All by default. */
  liveIds(resource: string, beforeSeq = Number.MAX_SAFE_INTEGER): RecordId[] {
    const sql = `SELECT id FROM ${fence(resource)} WHERE gone = 0 AND received_seq < ? ORDER BY id`;
    return this.selectIds(sql, beforeSeq);
  }

  /** The JSON of all live records of a small resource, by id. Damaged JSON is left out. */
  liveJson(resource: string): string[] {
    const sql = `SELECT r.json FROM ${quoted(rawTable(resource))} r JOIN ${fence(resource)} f ON f.id = r.id
      WHERE f.gone = 0 AND json_valid(r.json) ORDER BY r.id`;
    return this.selectColumn(sql);
  }

  /** @param other only those that differ from another table's row in one of these columns, own name first */
  liveIdsWhere(
    table: string,
    values: Readonly<Record<string, RecordId | string>>,
    other?: { table: string; id: RecordId; columns: Readonly<Record<string, string>> },
  ): RecordId[] {
    const where = Object.keys(values).map((column) => `own.${quoted(column)} = ? AND `);
    const pairs = Object.entries(other?.columns ?? {});
    const differs = pairs.map(([own, theirs]) => `own.${quoted(own)} IS NOT other.${quoted(theirs)}`);
    const join = other ? `JOIN ${quoted(other.table)} other ON other.id = ?` : "";
    const sql = `SELECT own.id FROM ${quoted(table)} own ${join}
      WHERE ${where.join("")}own._deleted_at IS NULL ${other ? `AND (${differs.join(" OR ")})` : ""} ORDER BY own.id`;
    return this.selectIds(sql, ...(other ? [other.id] : []), ...Object.values(values));
  }

  /** Does the record show what its list showed when it was last compared with it? */
  isAsListed(resource: string, id: RecordId): boolean {
    return this.exists(`SELECT 1 FROM ${fence(resource)} WHERE id = ? AND listed_sha IS NOT NULL`, id);
  }

  /** How a live record was last read: the kind of answer, its number, and when, epoch ms; null: there is none. */
  lastRead(resource: string, id: RecordId) {
    const sql = `SELECT source, received_seq AS receivedSeq, read_at AS readAtMs
      FROM ${fence(resource)} WHERE id = ? AND gone = 0`;
    type LastRead = { readonly source: string; readonly receivedSeq: number; readonly readAtMs: number };
    return (this.statement(sql).get(id) as LastRead | undefined) ?? null;
  }

  /** The record's JSON now or at its deletion, and before its last change if that differs. Damaged JSON is left out. */
  versions(resource: string, id: RecordId): string[] {
    const sql = `SELECT json FROM ${quoted(rawTable(resource))} WHERE id = ? AND json_valid(json) UNION
      SELECT l.before FROM ${fence(resource)} f JOIN _change_log l ON l.seq = f.last_change
        WHERE f.id = ? AND json_valid(l.before)`;
    return this.selectColumn(sql, id, id);
  }

  /** Live records that name a parent in this field, or none at all, and have no live one; those received longest ago first. */
  orphans({ name, list }: Resource, field: string, most: number): RecordId[] {
    const links = list.kind === "parents" ? list.parents : [];
    const dead = links.map(
      (link) =>
        `NOT EXISTS (SELECT 1 FROM ${fence(link.resource)} p WHERE p.id = ${childColumn(link.field)} AND p.gone = 0)`,
    );
    const none = links.map((link) => `${childColumn(link.field)} IS NULL`).join(" AND ");
    return this.selectIds(
      `SELECT c.id FROM ${quoted(name)} c JOIN ${fence(name)} f ON f.id = c.id WHERE f.gone = 0
         AND (${childColumn(field)} IS NOT NULL OR ${none}) AND ${dead.join(" AND ")}
         ORDER BY f.received_seq LIMIT ?`,
      most,
    );
  }

  /** The newest value of a column among the live rows of these tables; null: no row has one. */
  latestValue(tables: readonly string[], column: string): string | null {
    for (const table of tables) {
      const sql = `SELECT ${quoted(column)} FROM ${quoted(table)}
        WHERE ${quoted(column)} IS NOT NULL AND _deleted_at IS NULL ORDER BY id DESC LIMIT 1`;
      const [value] = this.selectColumn<string | number>(sql);
      if (value !== undefined) return String(value);
    }
    return null;
  }

  /** The record that owns this one, as its row says, deleted or not: the document of a payment. */
  ownersOf({ name, list }: Resource, id: RecordId): RecordRef[] {
    const links = list.kind === "owned" ? list.by : [];
    return links.flatMap(({ resource, type, typeField, idField }) => {
      const [ownType, text] = this.texts(name, id, [snakeCase(typeField), snakeCase(idField)]);
      const owner = ownType === type ? recordId(text ?? "") : null;
      return owner === null ? [] : [{ resource, id: owner }];
    });
  }

  /** Values of a row, live or deleted, as text; empty where there is no row. */
  texts(table: string, id: RecordId, columns: readonly string[]): (string | null)[] {
    const cast = columns.map((column) => `CAST(${quoted(column)} AS TEXT)`);
    const sql = `SELECT ${cast.join(", ")} FROM ${quoted(table)} WHERE id = ?`;
    return (this.statement(sql, "cells").get(id) ?? []) as (string | null)[];
  }

  /**
   * Some live records other than `except`: the newest, the oldest, one from the middle, and so on, because
   * records that are deleted together were often created together. `where` is a condition on `fence.id`.
   */
  spread(resource: string, except: RecordId | null, where = "1"): RecordId[] {
    const table = fence(resource);
    const middle = `${where} AND id >= (SELECT (min(id) + max(id)) / 2 FROM ${table})`;
    const pick = (condition: string, order: string) =>
      this.selectIds(
        `SELECT id FROM ${table} AS fence WHERE gone = 0 AND id IS NOT ? AND ${condition} ORDER BY id ${order} LIMIT 3`,
        except,
      );
    const picks = [pick(where, "DESC"), pick(where, "ASC"), pick(middle, "ASC")];
    return [...new Set([0, 1, 2].flatMap((turn) => picks.flatMap((ids) => ids[turn] ?? [])))];
  }
}

function fence(resource: string): string {
  return quoted(fenceTable(resource));
}

function childColumn(field: string): string {
  return `c.${quoted(snakeCase(field))}`;
}
