import { mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { openDatabase } from "../../../src/store/database.ts";
import { appliedMigrations, migrations } from "../../../src/store/migrations/migrate.ts";
import { inbox } from "../../../src/store/migrations/0002-inbox.ts";
import { endOf } from "../../support/program/cli.ts";
import { look } from "../../support/truth/compare.ts";
import { openCompany, sync } from "../../support/company/open-company.ts";
import { memoryFolder } from "../../support/memory-folder.ts";
import { startToDie, type CrashScenario } from "./crash-scenario.ts";
import { companyIn, inconsistencies, inequalities } from "./sync-scenario.ts";

const openAndClose = fileURLToPath(new URL("../../support/mirror/open-and-close.ts", import.meta.url));

/** What takes a mirror back to the tables that it had after the second migration. */
const backwards = [
  "DROP TABLE document_files",
  "DROP TABLE _file_reads",
  "DROP INDEX _work_turns",
  "DROP INDEX _work_next",
  "ALTER TABLE _work DROP COLUMN rank",
  "UPDATE _work SET lane = lane - 1 WHERE lane > 2",
  "CREATE INDEX _work_next ON _work (state, lane, due_ms, id)",
  "DROP TABLE _derivations",
  "DROP TABLE _preview_differences",
  ...["idle", "tails", "overstated", "earlier"].map((name) => `ALTER TABLE _listings DROP COLUMN ${name}`),
  ...["total", "without_id"].map((name) => `ALTER TABLE _listing_pages DROP COLUMN ${name}`),
  "DROP TABLE _inbox",
  "DROP TABLE _inbox_ids",
  ...inbox.filter((statement) => statement.includes("_inbox")),
  "DELETE FROM _migrations WHERE name >= '0003'",
  `INSERT INTO _inbox (event_id, received_at, body, state) VALUES ('old', '2026-01-01', '{}', 'unreadable')`,
];

function applied(file: string): string[] {
  return look(file, appliedMigrations);
}

/** An earlier version's mirror is opened, which brings its tables and rows up to date. */
export async function migrationScenario(): Promise<CrashScenario> {
  const company = await openCompany({ records: 2 });
  const base = mkdtempSync(path.join(memoryFolder(), "fintoro-mirror-base-"));
  const old = companyIn(company, base);
  await sync(old);
  const db = openDatabase(old.file);
  for (const statement of backwards) db.exec(statement);
  const before = appliedMigrations(db);
  db.close();
  const names = Object.keys(migrations);
  return {
    name: "a migration",
    countsStatements: true,
    base,
    run: (attempt) => endOf(startToDie(attempt, [openAndClose, path.join(attempt.folder, "acme.db")])),
    afterCrash: ({ folder }) => {
      const here = companyIn(company, folder);
      const now = applied(here.file);
      if (String(now) === String(before)) return [];
      return String(now) === String(names) ? [] : [`half migrated: ${now.join()}`];
    },
    finish: async ({ folder }) => {
      const here = companyIn(company, folder);
      const { outcome } = await sync(here);
      const kept = look(here.file, (read) => read.prepare("SELECT event_id FROM _inbox").pluck().all());
      return [
        ...(outcome === "complete" ? [] : [`the run ended: ${outcome}`]),
        ...(String(applied(here.file)) === String(names) ? [] : ["not migrated"]),
        ...(String(kept) === "old" ? [] : [`the inbox holds ${String(kept)}`]),
        ...inequalities(here),
        ...(await inconsistencies(here)),
      ];
    },
    close: async () => {
      rmSync(base, { recursive: true, force: true });
      await company.close();
    },
  };
}
