import { dayMs } from "../../src/base/clock.ts";
import { formatCount, formatDuration } from "../../src/base/units.ts";
import { openDatabase } from "../../src/store/database.ts";
import { count } from "../support/truth/compare.ts";
import { removeSimulations } from "../simulation/machine/simulated-disk.ts";
import { firstDayMs, isSlow, PlannedCompany } from "../simulation/planned-company.ts";
import type { Exchange } from "../simulation/service/service-types.ts";
import { markdownTable, type BenchResult } from "./result.ts";

const sizes = [700, 10_000];
const nights = 60;
const unchangedNight = 5;
const hiddenAfter = 6;
const lookedAfter = [1, 4, 30];
const changedNight = 40;
/** Records that lists do not show whole; another one's own route is asked once, where a change leads to it. */
const isOfDetail = ({ route }: Exchange) => /^\/(?:invoices|price-list-items)\//.test(route);
const isOfParent = ({ search }: Exchange) => search !== "";
/** In so many invoices, and in as many CRM events. */
const hiddenEdits = 25;

/** The plan of runs in simulated time: a table like that in docs/nightly.md. It takes a quarter of an hour. */
export async function benchPlan(): Promise<BenchResult[]> {
  const rows: string[][] = [];
  for (const documents of sizes)
    for (const hasWebhooks of [false, true]) rows.push(await sixtyNights(documents, hasWebhooks));
  const head = [
    "documents, parents",
    "events",
    "first headers",
    "first details",
    "unchanged night",
    "night with 1 % changed",
    "oldest detail, parent",
    `of ${2 * hiddenEdits} edits that no list shows, found after ${lookedAfter.join(", ")} nights`,
  ];
  console.log(`\n${markdownTable(head, rows)}\n`);
  return [];
}

/** A company at one size for 60 nights; `hasWebhooks`: deliveries could be received all the time, and one arrived each day. */
async function sixtyNights(documents: number, hasWebhooks: boolean): Promise<string[]> {
  const company = new PlannedCompany(documents);
  const { time, service } = company;
  try {
    await company.sync();
    const first = costUntil(company, service.exchanges.length);
    const headers = costUntil(company, service.exchanges.findLastIndex((one) => !isSlow(one)) + 1);
    const costs = new Map<number, string>();
    const ages = { detail: 0, parent: 0 };
    const found: number[] = [];
    for (let night = 1; night <= nights; night++) {
      if (night === changedNight)
        company.change("invoices", documents / 100, () => ({ issueDate: "2026-12-10" }));
      await company.reachDay(night);
      if (hasWebhooks) noteDelivery(company);
      const [requests, startMs] = [service.exchanges.length, time.passedMs];
      await company.sync();
      costs.set(night, costText(service.exchanges.length - requests, time.passedMs - startMs));
      if (night === hiddenAfter) company.editUnseen(hiddenEdits, "hidden");
      if (lookedAfter.includes(night - hiddenAfter)) found.push(countFound(company));
      if (night <= nights / 2) continue;
      ages.detail = Math.max(ages.detail, oldestMs(company, isOfDetail));
      ages.parent = Math.max(ages.parent, oldestMs(company, isOfParent));
    }
    return [
      `${formatCount(documents)}, ${formatCount(documents / 4)}`,
      hasWebhooks ? "webhooks" : "none",
      headers,
      first,
      costs.get(unchangedNight) ?? "",
      costs.get(changedNight) ?? "",
      `${daysText(ages.detail)}, ${daysText(ages.parent)}`,
      found.join(", "),
    ];
  } finally {
    removeSimulations();
  }
}

/** What the first run had cost when so many requests were answered. */
function costUntil({ service }: PlannedCompany, requests: number): string {
  return costText(requests, service.exchanges[requests - 1]?.hitAtMs ?? 0);
}

function costText(requests: number, ms: number): string {
  return `${formatCount(requests)}, ${formatDuration(ms)}`;
}

function daysText(ms: number): string {
  return `${(ms / dayMs).toFixed(1)} d`;
}

/** As `serve` notes it. */
function noteDelivery({ disk, time }: PlannedCompany): void {
  using db = openDatabase(disk.mirror);
  const at = new Date(time.nowMs()).toISOString();
  db.exec(`DELETE FROM _receiver;
    INSERT INTO _receiver (started_ms, seen_ms) VALUES (${firstDayMs - dayMs}, ${time.nowMs()});
    INSERT INTO _inbox (event_id, received_at, body, state) VALUES ('${at}', '${at}', '{}', 'done')`);
}

function countFound({ disk }: PlannedCompany): number {
  const sql = `SELECT (SELECT count(*) FROM invoices WHERE note = 'hidden')
    + (SELECT count(*) FROM contact_activity_logs WHERE metadata_content = 'hidden')`;
  return count(disk.mirror, sql);
}

/** How long ago the stalest of these was read, ms. */
function oldestMs(company: PlannedCompany, isMeant: (one: Exchange) => boolean): number {
  const times = company.lastReads((one) => isSlow(one) && isMeant(one)).values();
  return company.time.passedMs - [...times].reduce((a, b) => Math.min(a, b), Infinity);
}
