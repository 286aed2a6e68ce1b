import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, copyFileSync, fsyncSync, mkdtempSync, openSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../src/base/clock.ts";
import { formatSize } from "../../src/base/units.ts";
import { publishReport, type PublishWay } from "../../src/report/publish-report.ts";
import { findMoment } from "../../src/state/as-of/moment.ts";
import { overlayAsOf } from "../../src/state/as-of/rewind.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { openDatabase } from "../../src/store/database.ts";
import { benchManifest, benchMirror } from "./export-mirror.ts";
import type { BenchResult } from "./result.ts";

const rounds = 3;
const changedShare = 0.001;

/** The mirror of the exports' bench, as a sync leaves it (`whole`), or its typed tables alone; made by SQL. */
async function buildMirror(file: string, rows: number, whole: boolean): Promise<void> {
  copyFileSync(await benchMirror(rows), file);
  const mirror = await openMirror(file, benchManifest);
  mirror.db.pragma("synchronous = OFF");
  if (whole) mirror.db.exec(wholeSql);
  mirror.db.exec("INSERT INTO _reads (id, at, cause) VALUES (1, '2026-11-22T00:00:00.000Z', 'sweep')");
  mirror.db.exec(
    "INSERT INTO _change_log (resource, record_id, op, read) VALUES ('invoices', 1, 'insert', 1)",
  );
  mirror.db.pragma("wal_checkpoint(TRUNCATE)");
  mirror.close();
}

/** JSON of the size that such a record has, its fence and its change. */
const wholeSql = `
  INSERT INTO _raw_invoices SELECT id, json_object('id', id, 'number', text0, 'client', text1, 'issueDate', day0,
    'dueDate', day1, 'status', text4, 'note', text2, 'rest', hex(zeroblob(400))) FROM invoices;
  INSERT INTO _fence_invoices SELECT id, randomblob(20), randomblob(20), 'detail', id, 1763769600000, id, 0 FROM invoices;
  INSERT INTO _change_log (seq, resource, record_id, op, read) SELECT id + 1, 'invoices', id, 'insert', 1 FROM invoices`;

function changeSome(file: string, rows: number): void {
  const db = openDatabase(file);
  const which = `id % ${Math.round(1 / changedShare)} = 0 AND id <= ${rows}`;
  db.exec(`UPDATE invoices SET text2 = coalesce(text2, '') || '!' WHERE ${which}`);
  db.exec(
    `INSERT INTO _change_log (resource, record_id, op, read) SELECT 'invoices', id, 'update', 1 FROM invoices WHERE ${which}`,
  );
  db.close();
}

interface Measured {
  readonly wallMs: number;
  readonly peakBytes: number;
  readonly bytes: number;
}

/** Runs each in a process of its own, which prints its time (without start-up) and its peak memory. */
export async function measure(
  what: "vacuum" | PublishWay | `${number} days ago`,
  mirror: string,
): Promise<Measured> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), what, mirror], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await once(child, "close");
  return JSON.parse(said) as Measured;
}

async function perform(what: string, mirror: string): Promise<Measured> {
  const start = performance.now();
  const daysAgo = /^(\d+) days ago$/.exec(what)?.[1];
  const file =
    what === "vacuum"
      ? vacuum(mirror)
      : daysAgo === undefined
        ? await publishTo(mirror, what as PublishWay)
        : await publishAsOf(mirror, Number(daysAgo));
  const wallMs = performance.now() - start;
  return { wallMs, peakBytes: process.resourceUsage().maxRSS * 1024, bytes: statSync(file).size };
}

/** On the disk when it is done, as the report is. */
function vacuum(mirror: string): string {
  const copy = `${mirror}.copy`;
  const db = openDatabase(mirror, { readonly: true });
  db.prepare("VACUUM INTO ?").run(copy);
  db.close();
  const file = openSync(copy, "r");
  fsyncSync(file);
  closeSync(file);
  return copy;
}

async function publishAsOf(mirror: string, daysAgo: number): Promise<string> {
  const nowMs = systemClock.nowMs();
  const db = openDatabase(mirror, { readonly: true });
  const atMs = nowMs - daysAgo * 86_400_000;
  const moment = findMoment(db, { kind: "time", atMs }, { nowMs, timezone: "UTC" });
  db.close();
  const copy = `${mirror}.then`;
  await overlayAsOf(mirror, copy, benchManifest, moment, {
    clock: systemClock,
    signal: new AbortController().signal,
  });
  const report = await publishTo(copy, "anew");
  rmSync(copy);
  return report;
}

async function publishTo(mirror: string, way: PublishWay): Promise<string> {
  const { signal } = new AbortController();
  const parts = {
    manifest: benchManifest,
    clock: systemClock,
    company: "bench",
    version: "0",
    timezone: "UTC",
    signal,
  };
  const published = await publishReport({ ...parts, mirror, report: `${mirror}.report`, way, force: true });
  if (published.way !== way) throw new Error(`it was published ${published.way}, not ${way}`);
  return published.file;
}

/** `npm run bench -- publish`, or this file itself with a number of rows. */
export async function benchPublish(rows = 1_000_000): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const whole of [true, false]) {
    const folder = mkdtempSync(join(tmpdir(), "fintoro-mirror-bench-"));
    try {
      results.push(...(await compare(join(folder, "bench.db"), rows, whole)));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return results;
}

async function compare(mirror: string, rows: number, whole: boolean): Promise<BenchResult[]> {
  await buildMirror(mirror, rows, whole);
  const of = whole ? "a mirror as sync leaves it" : "typed tables alone";
  const ratios = { anew: [] as number[], changes: [] as number[] };
  let peakBytes = 0;
  let detail = "";
  for (let round = 0; round < rounds; round++) {
    rmSync(`${mirror}.copy`, { force: true });
    rmSync(`${mirror}.report`, { force: true });
    const vacuumed = await measure("vacuum", mirror);
    const anew = await measure("anew", mirror);
    changeSome(mirror, rows);
    const changes = await measure("changes", mirror);
    ratios.anew.push(vacuumed.wallMs / anew.wallMs);
    ratios.changes.push(vacuumed.wallMs / changes.wallMs);
    peakBytes = Math.max(peakBytes, anew.peakBytes, changes.peakBytes);
    const [v, a, c] = [vacuumed, anew, changes].map(({ wallMs }) => `${(wallMs / 1000).toFixed(1)} s`);
    detail = `${rows} rows, ${of} of ${formatSize(statSync(mirror).size)}: VACUUM INTO ${v}, anew ${a}, changes ${c}`;
  }
  return [
    {
      name: `publish anew against VACUUM INTO, ${of}`,
      ratio: median(ratios.anew),
      aim: "at least 0.33",
      detail,
    },
    {
      name: `publish of 0.1 % changed against VACUUM INTO, ${of}`,
      ratio: median(ratios.changes),
      aim: "at least 0.33",
      detail,
    },
    {
      name: `publish, peak memory against 300 MB, ${of}`,
      ratio: peakBytes / 300e6,
      aim: "below 1",
      detail: formatSize(peakBytes),
    },
  ];
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

if (import.meta.main) {
  const [what = "1000000", mirror] = process.argv.slice(2);
  if (mirror !== undefined) console.log(JSON.stringify(await perform(what, mirror)));
  else
    for (const { ratio, name, aim, detail } of await benchPublish(Number(what)))
      console.log(`${ratio.toFixed(3)}  ${name} (${aim}; ${detail})`);
}
