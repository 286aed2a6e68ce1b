/** A process of its own that dies by kill -9 in the middle of a migration, after half of its tables. */
import { sql } from "kysely";
import { migrate, migrations } from "../../src/store/migrations/migrate.ts";
import { openDatabase } from "../../src/store/database.ts";

await migrate(openDatabase(process.argv[2] ?? ""), {
  ...migrations,
  "9999-dies": {
    up: async (db) => {
      await sql`CREATE TABLE half (id INTEGER PRIMARY KEY) STRICT`.execute(db);
      await sql`DROP TABLE _parents`.execute(db);
      process.kill(process.pid, "SIGKILL");
      await new Promise(() => undefined);
    },
  },
});
