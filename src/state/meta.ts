import type { Db, Statement } from "../store/database.ts";

/** Small facts about the mirror itself by key, as JSON, in table `_meta`. */
export class Meta {
  private readonly select: Statement;
  private readonly upsert: Statement;

  constructor(db: Db) {
    this.select = db.prepare("SELECT value FROM _meta WHERE key = ?").pluck();
    this.upsert = db.prepare(
      "INSERT INTO _meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    );
  }

  /** null: never set. */
  get(key: string): unknown {
    const value = this.select.get(key);
    return typeof value === "string" ? (JSON.parse(value) as unknown) : null;
  }

  set(key: string, value: unknown): void {
    this.upsert.run(key, JSON.stringify(value));
  }
}
