import { Repository } from "../store/repository.ts";

/** Small facts about the mirror itself by key, as JSON, in table `_meta`. */
export class Meta extends Repository {
  /** null: never set. */
  get(key: string): unknown {
    const [value] = this.selectColumn<string>("SELECT value FROM _meta WHERE key = ?", key);
    return value === undefined ? null : (JSON.parse(value) as unknown);
  }

  set(key: string, value: unknown): void {
    const sql =
      "INSERT INTO _meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    this.execute(sql, key, JSON.stringify(value));
  }
}
