import { copyFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { formatSize } from "../../src/base/units.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { openDatabase } from "../../src/store/database.ts";
import { benchDeclaration, benchMirror } from "./export-mirror.ts";
import { measure } from "./measured-process.ts";
import { benchFolder, inTurns, median, type BenchResult } from "./result.ts";

const rounds = 3;
const rows = 1_000_000;
const changedShare = 0.001;

/** The mirror of the exports' bench, as a sync leaves it (`whole`), or its typed tables alone; made by SQL. */
async function buildMirror(file: string, whole: boolean): Promise<void> {
  copyFileSync(await benchMirror(rows), file);
  using mirror = await openMirror(file, benchDeclaration);
  mirror.db.pragma("synchronous = OFF");
  if (whole) mirror.db.exec(wholeSql);
  mirror.db.exec("INSERT INTO _reads (id, at, cause) VALUES (1, '2026-11-22T00:00:00.000Z', 'sweep')");
  mirror.db.exec(
    "INSERT INTO _change_log (resource, record_id, op, read) VALUES ('invoices', 1, 'insert', 1)",
  );
  mirror.db.pragma("wal_checkpoint(TRUNCATE)");
}

/** JSON of the size that such a record has, its fence and its change. */
const wholeSql = `
  INSERT INTO _raw_invoices SELECT id, json_object('id', id, 'number', text0, 'client', text1, 'issueDate', day0,
    'dueDate', day1, 'status', text4, 'note', text2, 'rest', hex(zeroblob(400))) FROM invoices;
  INSERT INTO _fence_invoices SELECT id, randomblob(20), randomblob(20), 'detail', id, 1763769600000, id, 0 FROM invoices;
  INSERT INTO _change_log (seq, resource, record_id, op, read) SELECT id + 1, 'invoices', id, 'insert', 1 FROM invoices`;

function changeSome(file: string): void {
  using db = openDatabase(file);
  const which = `id % ${Math.round(1 / changedShare)} = 0 AND id <= ${rows}`;
  db.exec(`UPDATE invoices SET text2 = coalesce(text2, '') || '!' WHERE ${which}`);
  db.exec(
    `INSERT INTO _change_log (resource, record_id, op, read) SELECT 'invoices', id, 'update', 1 FROM invoices WHERE ${which}`,
  );
}

/** A report made anew, and after 0.1 % changed, beside a copy of the mirror by SQLite itself. */
export async function benchPublish(): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const whole of [true, false]) {
    using folder = benchFolder();
    results.push(...(await compare(join(folder.path, "bench.db"), whole)));
  }
  return results;
}

async function compare(mirror: string, whole: boolean): Promise<BenchResult[]> {
  await buildMirror(mirror, whole);
  const of = whole ? "a mirror as sync leaves it" : "typed tables alone";
  const all = await inTurns(rounds, {
    vacuum: () => {
      for (const file of ["copy", "report"]) rmSync(`${mirror}.${file}`, { force: true });
      return measure("vacuum", mirror);
    },
    anew: () => measure("anew", mirror),
    changes: () => {
      changeSome(mirror);
      return measure("changes", mirror);
    },
  });
  const seconds = (what: keyof typeof all, time: "wallMs" | "cpuMs") =>
    median(all[what].map((each) => each[time])) / 1000;
  const text = (what: keyof typeof all) =>
    `${seconds(what, "wallMs").toFixed(2)} s (${seconds(what, "cpuMs").toFixed(2)} s of CPU)`;
  const ratio = (what: "anew" | "changes") => seconds("vacuum", "cpuMs") / seconds(what, "cpuMs");
  const detail = `${rows} rows, ${of} of ${formatSize(statSync(mirror).size)}: VACUUM INTO ${text("vacuum")}, anew ${text("anew")}, changes ${text("changes")}`;
  const [least, from] = [whole ? "0.7" : "0.3", `CPU of VACUUM INTO, ${of}`];
  return [
    { name: `publish anew against ${from}`, ratio: ratio("anew"), aim: `at least ${least}`, detail },
    {
      name: `publish of 0.1 % changed, s, ${of}`,
      ratio: seconds("changes", "wallMs"),
      aim: "below 0.3",
      detail,
    },
  ];
}
