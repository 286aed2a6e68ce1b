/** A process of its own that dies by kill -9 in the middle of a migration, after half of its tables. */
import { migrate, migrations } from "../../../src/store/migrations/migrate.ts";
import { openDatabase } from "../../../src/store/database.ts";

function* half() {
  yield "CREATE TABLE half (id INTEGER PRIMARY KEY) STRICT";
  yield "DROP TABLE _parents";
  process.kill(process.pid, "SIGKILL");
}

migrate(openDatabase(process.argv[2] ?? ""), { ...migrations, "9999-dies": half() });
