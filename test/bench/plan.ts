import type { BookRow } from "../../connectors/fintoro/sandbox/model/company.ts";
import { dayMs, isoTime } from "../../src/base/clock.ts";
import { assert } from "../../src/base/errors.ts";
import { formatCount, formatDuration } from "../../src/base/units.ts";
import { createMemoryRateLimitStore } from "../../src/rate-limit/state.ts";
import { openDatabase } from "../../src/store/database.ts";
import { newFolder, removeSimulations, SimulatedDisk } from "../simulation/machine/simulated-disk.ts";
import { SimulatedMachine } from "../simulation/machine/simulated-machine.ts";
import { SimulatedProcess } from "../simulation/machine/simulated-process.ts";
import { SimulatedProgram } from "../simulation/machine/simulated-program.ts";
import { usualSync } from "../simulation/scenarios/phases.ts";
import type { Exchange } from "../simulation/service/service-types.ts";
import { SimulatedService } from "../simulation/service/simulated-service.ts";
import { limiterKinds } from "../support/rate-limit/simulated-budget.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { count } from "../support/truth/compare.ts";
import { SimulatedTime } from "../support/virtual/simulated-time.ts";
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
/** The first night, at a quarter past two. */
const firstDayMs = Date.parse("2026-11-01T02:15:00+01:00");
const historyDays = 1_095;

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

/**
 * A simulated company of so many invoices and a quarter as many parents of CRM events, made within three years. Its runs
 * are made one by one, and nothing goes wrong.
 */
class PlannedCompany {
  readonly time = new SimulatedTime(firstDayMs);
  readonly service: SimulatedService;
  readonly disk = new SimulatedDisk(newFolder(), null);
  private readonly machine: SimulatedMachine;
  private readonly budget = createMemoryRateLimitStore();

  constructor(documents: number) {
    const { time, disk } = this;
    const share = (part: number) => Math.round(documents * part);
    const parents = { clients: share(0.17), business_cases: share(0.08) };
    const size = { ...parents, price_list_items: share(0.04), invoices: documents };
    const [limiter] = limiterKinds;
    assert(limiter, "there is a kind of limiter");
    const noted = { ...size, contact_activity_logs: parents.clients };
    this.service = new SimulatedService({ size: noted, limiter, random: seededRandom(1), clock: time });
    this.machine = new SimulatedMachine({ time, service: this.service, disk, hasMirror: false });
    for (const [table, records] of Object.entries({ ...parents, invoices: documents }))
      this.change(table as keyof typeof parents, records, issuedAt);
  }

  async sync(): Promise<void> {
    const { machine, time } = this;
    const process = new SimulatedProcess(machine, { kind: "by itself" }, machine.tokens.own);
    const activity = { ...usualSync, scrub: true };
    const options = { activity, durationMs: 0, seed: 1, acceptIdentity: false, budget: this.budget };
    const program = new SimulatedProgram(machine, process, options);
    const running = process.run(() => program.run());
    const end = await time.until(running, Infinity);
    if (program.runs.length === 0 || machine.broken.length > 0)
      throw new Error([JSON.stringify(end), ...machine.broken].join("\n"));
  }

  /** Lets time pass until this many days after the first night; none when that is over. */
  async reachDay(day: number): Promise<void> {
    const { time } = this;
    await time.until(time.sleep(day * dayMs - time.passedMs), Infinity);
  }

  lastReads(isAsked: (exchange: Exchange) => boolean): ReadonlyMap<string, number> {
    const asked = this.service.exchanges.filter(isAsked);
    return new Map(asked.map(({ route, search, hitAtMs }) => [`${route}?${search}`, hitAtMs]));
  }

  /** Changes so many invoices, and as many CRM events, in what no list of documents or parents shows. */
  editUnseen(edits: number, note: string): void {
    this.change("invoices", edits, () => ({ note }));
    this.change("contact_activity_logs", edits, () => ({ type: "note", metadata: { content: note } }));
  }

  /** Changes so many records of a table, spread over all of them, without an event. */
  change(
    table: "clients" | "business_cases" | "invoices" | "contact_activity_logs",
    changes: number,
    to: (at: number) => Partial<BookRow>,
  ): void {
    const { company } = this.service;
    const rows = [...company.company.tables[table].values()];
    for (let n = 0; n < changes; n++) {
      const row = rows[Math.floor((n * rows.length) / changes)];
      if (row) company.company.tables[table].replace({ ...row, ...to(n / changes) });
    }
    company.publish(table);
  }
}

/** @param share of the history, from its beginning */
function issuedAt(share: number): Partial<BookRow> {
  const createdAtMs = firstDayMs - Math.floor((1 - share) * historyDays) * dayMs;
  return { issueDate: isoTime(createdAtMs).slice(0, 10), createdAtMs, updatedAtMs: createdAtMs };
}

/** Is it a record's own route, or the list of a parent? */
function isSlow({ route, search }: Exchange): boolean {
  return /\/\d+$/.test(route) || /(?:clientId|businessCaseId)=/.test(search);
}
