import { statSync } from "node:fs";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import { dayMs, isoTime } from "../../src/base/clock.ts";
import { formatCount, formatSize } from "../../src/base/units.ts";
import { Inbox } from "../../src/state/inbox/inbox.ts";
import { openMirror, type Mirror } from "../../src/state/mirror.ts";
import { Runs, type RunMode } from "../../src/state/runs.ts";
import { WorkQueue } from "../../src/state/work-queue.ts";
import { readStored, signedForm } from "../../src/webhook/ingest/delivery.ts";
import { CompanyIngest } from "../../src/webhook/ingest/ingest.ts";
import { emptyKeyring } from "../../src/webhook/keys/keyring.ts";
import { openCompany, sync, type Company } from "../support/company/open-company.ts";
import { publish } from "../support/export/published.ts";
import { count } from "../support/truth/compare.ts";
import { seededRandom } from "../support/seeded-random.ts";
import type { BenchResult } from "./result.ts";

const documents = ["invoices", "credit_notes", "proformas", "orders", "quotations"];
/** Per day: one every ten minutes. */
const quickRuns = 144;
/** Each change of a document is announced, and so is as much that changes nothing of it. */
const eventsPerChange = 2;

/** So many documents, how many of them change on a day, and for how many days. */
const sizes = [
  [50, 2, 100],
  [500, 20, 100],
  [5_000, 200, 100],
  [50_000, 200, 100],
  [50_000, 2_000, 50],
] as const;

/**
 * What a mirror takes on disk, what days add to it, and its report: the table in docs/size.md. The first run
 * and the runs that are copied are real; the days go through the inbox, the store's apply step and the table of runs.
 */
export async function benchDisk(): Promise<BenchResult[]> {
  console.log(
    "| documents | records | after the first run | report | changed a day | days | after them | a changed invoice | an event | a nightly run | a day of quick runs |",
  );
  for (const [records, changes, days] of sizes) console.log(await measure(records, changes, days));
  return [];
}

async function measure(records: number, changes: number, days: number): Promise<string> {
  await using resources = new AsyncDisposableStack();
  const company = resources.adopt(await openCompany({ records }), (one) => one.close());
  const { file } = company;
  await sync(company);
  await sync(company, { quick: true });
  await sync(company);
  const first = count(file, "SELECT sum(pgsize) FROM dbstat");
  const mirror = await openMirror(company.file, declaration);
  const before = partsOf(company);
  const report = await publish(mirror);
  const reportBytes = statSync(report.file).size;
  for (let day = 0; day < days; day++) liveOneDay(mirror, changes, day);
  const after = partsOf(company);
  const added = (part: keyof typeof after, of: number) =>
    formatSize(Math.round((after[part] - before[part]) / of));
  const whole = count(file, "SELECT sum(pgsize) FROM dbstat");
  copyRuns(mirror, "quick", quickRuns * days);
  mirror.close();
  const quick = partsOf(company).runs - after.runs;
  const counts = documents.map((table) => count(file, `SELECT count(*) FROM "${table}"`));
  const cells = [
    formatCount(counts.reduce((one, other) => one + other, 0)),
    formatCount(count(file, "SELECT count(*) FROM _raw")),
    formatSize(first),
    formatSize(reportBytes),
    formatCount(changes),
    formatCount(days),
    formatSize(whole),
    added("changes", changes * days),
    added("events", changes * eventsPerChange * days),
    added("runs", days),
    formatSize(quick / days),
  ];
  return `| ${cells.join(" | ")} |`;
}

/** Bytes of the pages that each part takes, with its indexes. */
function partsOf({ file }: Pick<Company, "file">) {
  const bytes = (table: string) =>
    count(
      file,
      `SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name IN (SELECT name FROM sqlite_master WHERE tbl_name = '${table}')`,
    );
  return { changes: bytes("_change_log") + bytes("_reads"), events: bytes("_inbox"), runs: bytes("_runs") };
}

/** Changes of documents as events announce them, and the nightly run that finds nothing else. */
function liveOneDay(mirror: Mirror, changes: number, day: number): void {
  const random = seededRandom(day);
  const ids = mirror.db.prepare("SELECT id FROM _raw_invoices ORDER BY id").pluck().all() as number[];
  const parts = { mirror, queue: new WorkQueue(mirror.db), selected: new Set(["invoices"]) };
  const ingest = new CompanyIngest({ ...parts, keyring: emptyKeyring });
  const inbox = new Inbox(mirror.db);
  const atMs = Date.now() + day * dayMs;
  mirror.db.pragma("synchronous = OFF");
  for (let change = 0; change < changes; change++) {
    const id = ids[Math.floor(random.next() * ids.length)] ?? 0;
    for (let event = 0; event < eventsPerChange; event++)
      ingest.store([eventOf(`${day}-${change}-${event}`, id, atMs)], atMs);
    const sentSeq = mirror.sequence.next();
    const requestId = `01981c5e-7d7e-7000-8000-${String(change).padStart(12, "0")}`;
    const stamp = { cause: "webhook", sentSeq, receivedAtMs: atMs, requestId, run: null } as const;
    const slice = changed(mirror, id, `${day}-${change}`);
    mirror.apply(() => {
      const receivedSeq = mirror.sequence.next();
      mirror.table("invoices").put({ stamp: { ...stamp, receivedSeq }, id, slice, source: "detail" });
      inbox.complete("invoices", String(id), sentSeq, { outcome: "updated", requestId, at: isoTime(atMs) });
      mirror.db.prepare("DELETE FROM _work").run();
    });
  }
  copyRuns(mirror, "incremental", 1);
}

function eventOf(name: string, invoice: number, atMs: number) {
  const id = `0190a0b1-0000-7000-8000-${name.padStart(12, "0")}`;
  const resource = { type: "invoice", id: invoice };
  const event = { id, type: "invoices.updated", occurredAt: isoTime(atMs), resource };
  return readStored(id, JSON.stringify(event), signedForm);
}

function changed({ db }: Mirror, id: number, note: string): Buffer {
  const json = String(db.prepare("SELECT json FROM _raw_invoices WHERE id = ?").pluck().get(id));
  return Buffer.from(JSON.stringify({ ...(JSON.parse(json) as object), note }));
}

function copyRuns({ db }: Mirror, mode: RunMode, times: number): void {
  const runs = new Runs(db);
  const [model] = runs.latest(1, `WHERE mode = '${mode}'`);
  if (!model) throw new Error(`there is no ${mode} run to copy`);
  const { startedAt, swept, report } = model;
  db.transaction(() => {
    for (let time = 0; time < times; time++)
      runs.finish(runs.begin(mode, startedAt, null, swept), startedAt, "complete", report);
  })();
}
