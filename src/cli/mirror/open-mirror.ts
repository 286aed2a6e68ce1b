import { existsSync } from "node:fs";
import { MirrorError } from "../../base/errors.ts";
import type { CompanyConfig, Config } from "../../config/config.ts";
import { mirrorFiles } from "../../config/mirror-files.ts";
import { assertReadable } from "../../store/migrations/migrate.ts";
import { openDatabase, type Db } from "../../store/database.ts";

/**
 * Opens a mirror read-only, without the lock, also beside its writer. Null when there is none yet.
 * @throws MirrorError `database` when it is no mirror, or of a newer version
 */
export function openForReading(config: Config, company: CompanyConfig): Db | null {
  const { mirror } = mirrorFiles(config, company.name);
  if (!existsSync(mirror)) return null;
  const db = openDatabase(mirror, { readonly: true });
  try {
    assertReadable(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Opens a mirror read-only.
 * @throws MirrorError `database` also when there is none yet
 */
export function openExisting(config: Config, company: CompanyConfig): Db {
  const db = openForReading(config, company);
  if (db) return db;
  throw new MirrorError("database", `there is no mirror of ${company.name} yet`, {
    hint: "Run `fintoro-mirror sync` first.",
  });
}
