/** A process of its own that begins to write into a database, says so, and does not go on until it receives input. */
import { openDatabase } from "../../../src/store/database.ts";

const db = openDatabase(process.argv[2] ?? "");
db.exec("BEGIN IMMEDIATE");
console.log("held");
process.stdin.resume().on("end", () => {
  db.exec("ROLLBACK");
  db.close();
});
