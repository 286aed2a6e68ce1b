import { copyFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { formatSize } from "../../src/base/units.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { benchColumns, benchManifest, benchMirror } from "./export-mirror.ts";
import { measure } from "./measured-process.ts";
import { benchFolder, inTurns, median, type BenchResult } from "./result.ts";

const rounds = 3;
const days = 5 * 365;

/** The mirror of the exports' bench with five years of changes: 20 % of the records came in the last one, 10 % changed in it. */
async function buildDatedMirror(file: string, rows: number): Promise<void> {
  copyFileSync(await benchMirror(rows), file);
  const mirror = await openMirror(file, benchManifest);
  mirror.db.pragma("synchronous = OFF");
  const cells = benchColumns.map((name) =>
    name.startsWith("flag") ? `'${name}', json(iif(${name}, 'true', 'false'))` : `'${name}', ${name}`,
  );
  mirror.db.exec(`
    INSERT INTO _raw_invoices SELECT id, json_object(${cells.join(", ")}) FROM invoices;
    WITH RECURSIVE d(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM d WHERE n < ${days})
      INSERT INTO _reads (id, at, cause) SELECT n, strftime('%Y-%m-%dT%H:%M:%fZ', 'now', (n - ${days}) || ' days', '-1 minute'), 'hydrate' FROM d;
    CREATE TEMP TABLE made AS SELECT row_number() OVER (ORDER BY day, op) AS seq, * FROM (
      SELECT id, 'insert' AS op, iif(id > ${0.8 * rows}, ${days - 364} + id % 365, 1 + id % ${days - 365}) AS day FROM invoices
      UNION ALL SELECT id, 'update', iif(id > ${0.8 * rows}, ${days}, ${days - 364} + id / 10 % 365) FROM invoices WHERE id % 10 = 0);
    CREATE INDEX temp.made_by_id ON made (id, op);
    INSERT INTO _change_log (seq, resource, record_id, op, read, before, next_seq) SELECT seq, 'invoices', m.id, op, day,
      iif(op = 'update', (SELECT json_set(json, '$.text2', 'as before') FROM _raw_invoices r WHERE r.id = m.id), NULL),
      iif(op = 'insert', (SELECT seq FROM made u WHERE u.id = m.id AND u.op = 'update'), NULL) FROM made m ORDER BY seq;
    INSERT INTO _fence_invoices SELECT id, randomblob(20), randomblob(20), 'detail', id, 1763769600000,
      (SELECT max(seq) FROM made m WHERE m.id = i.id), 0 FROM invoices i`);
  mirror.db.pragma("wal_checkpoint(TRUNCATE)");
  mirror.close();
}

/** `npm run bench -- as-of`: the report as of a day and a year ago, beside the report of now, at two sizes. */
export async function benchAsOf(sizes: readonly number[] = [10_000, 500_000]): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const rows of sizes) {
    using folder = benchFolder();
    const mirror = join(folder.path, "bench.db");
    await buildDatedMirror(mirror, rows);
    const published = (what: "anew" | `${number} days ago`) => async () => {
      rmSync(`${mirror}.report`, { force: true });
      return (await measure(what, mirror)).wallMs;
    };
    const times = await inTurns(rounds, {
      now: published("anew"),
      day: published("1 days ago"),
      year: published("365 days ago"),
    });
    const seconds = (what: keyof typeof times) => `${(median(times[what]) / 1000).toFixed(2)} s`;
    results.push({
      name: "publish --as-of a year ago against publish",
      ratio: median(times.year) / median(times.now),
      aim: "at most 2",
      detail: `${rows} records, ${formatSize(statSync(mirror).size)}: publish ${seconds("now")}, a day ago ${seconds("day")}, a year ago ${seconds("year")}`,
    });
  }
  return results;
}
