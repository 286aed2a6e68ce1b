import { dayMs } from "../../src/base/clock.ts";
import { formatCount, formatDuration } from "../../src/base/units.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import {
  companyOf,
  detailed,
  documentNames,
  firstDayMs,
  parentNames,
} from "../support/virtual/stub-service.ts";
import { VirtualCompany } from "../support/virtual/virtual-company.ts";
import { markdownTable, type BenchResult } from "./result.ts";

/** A company at one size, mirrored in one way for 60 nights. */
interface Case {
  readonly documents: number;
  /** `serve` receives every event without a gap; else runs at night are all there is. */
  readonly webhooks: boolean;
}

/** Requests, and how long they took at 120 a minute. */
interface Cost {
  readonly requests: number;
  readonly ms: number;
}

/** What 60 nights of a case showed. */
interface PlanFigures extends Case {
  readonly parents: number;
  /** Until every document had a row. */
  readonly headers: Cost;
  /** Until every detail and every parent's list was read. */
  readonly complete: Cost;
  readonly unchanged: Cost;
  readonly changed: Cost;
  /** Of events, all day, where there are any. */
  readonly events: number;
  /** At the end of each night of the second month, the oldest; in days. */
  readonly oldestDetail: number;
  readonly oldestParent: number;
  /** Of 49 edits that no list and no event shows, by nights after them. */
  readonly found: ReadonlyMap<number, number>;
}

const usual = [700, 10_000];
const large = [100_000, 500_000];
const nights = 60;
const unchangedNight = 5;
const hiddenAfter = 6;
const lookedAfter = [1, 4, 30];
const changedNight = 40;
const hiddenEdits = 49;

/**
 * The plan of runs in simulated time: the real planner, queue, engine, store and rate limiter, a stubbed service.
 * With `--large` also companies of 100,000 and 500,000 documents, which take an hour.
 */
export async function benchPlan(isLarge: boolean): Promise<BenchResult[]> {
  const sizes = isLarge ? [...usual, ...large] : usual;
  const figures: PlanFigures[] = [];
  for (const documents of sizes)
    for (const webhooks of [false, true]) figures.push(await sixtyNights({ documents, webhooks }));
  console.log(`\n${tableOf(figures)}\n`);
  return [];
}

async function sixtyNights(one: Case): Promise<PlanFigures> {
  const company = new VirtualCompany(companyOf(one.documents));
  const { service } = company;
  const say = startProgress(one);
  try {
    const first = await firstRun(company);
    say(`the first run took ${formatDuration(first.complete.ms)}`);
    const ages = { detail: 0, parent: 0 };
    const found = new Map<number, number>();
    const costs = new Map<number, Cost>();
    let events = 0;
    for (let night = Math.ceil(first.complete.ms / dayMs); night <= nights; night++) {
      if (night === changedNight) events = await changeOnePercent(company, one, night);
      await company.clock.reach(firstDayMs + night * dayMs);
      if (one.webhooks) await receiveOne(company);
      costs.set(night, await costOf(company, () => company.sync()));
      if (night === hiddenAfter)
        for (const { resource, id } of hidden(company)) service.edit(resource, id, "hidden");
      if (lookedAfter.includes(night - hiddenAfter))
        found.set(night - hiddenAfter, await countFound(company));
      if (night > nights / 2) {
        ages.detail = Math.max(ages.detail, oldest(company, detailed));
        ages.parent = Math.max(ages.parent, oldest(company, parentNames));
      }
      if (night % 10 === 0) say(`night ${night}`);
    }
    const none = { requests: 0, ms: 0 };
    return {
      ...one,
      ...first,
      parents: parentNames.reduce((sum, name) => sum + service.count(name), 0),
      unchanged: costs.get(unchangedNight) ?? none,
      changed: costs.get(changedNight) ?? none,
      events,
      oldestDetail: ages.detail / dayMs,
      oldestParent: ages.parent / dayMs,
      found,
    };
  } finally {
    company.close();
  }
}

/** Says on stderr how far a case is; a large one takes long. */
function startProgress({ documents, webhooks }: Case): (what: string) => void {
  const startMs = performance.now();
  const name = `${documents} documents${webhooks ? " behind webhooks" : ""}`;
  return (what) => console.error(`${name}: ${what}, ${formatDuration(performance.now() - startMs)}`);
}

async function costOf(company: VirtualCompany, work: () => Promise<unknown>): Promise<Cost> {
  const [requests, ms] = [company.service.requests, company.clock.nowMs()];
  await work();
  return { requests: company.service.requests - requests, ms: company.clock.nowMs() - ms };
}

/** The first run, watched: every list answer, and now and then a detail, may have completed the headers. */
async function firstRun(company: VirtualCompany): Promise<Pick<PlanFigures, "headers" | "complete">> {
  const { service, clock } = company;
  const { counts } = service.served;
  let headers: Cost | null = null;
  let complete: Cost | null = null;
  let lists = 0;
  const soFar = () => ({ requests: service.requests, ms: clock.nowMs() - firstDayMs });
  const onSend = (mirror: Mirror) => {
    if (service.served.unread === 0) complete ??= soFar();
    if (headers || (counts.list === lists && service.requests % 100 > 0)) return;
    lists = counts.list;
    const hasAll = (name: string) => mirror.records.counts(name).live === service.count(name);
    if (documentNames.every(hasAll)) headers = soFar();
  };
  await company.sync({ onSend });
  return { headers: headers ?? soFar(), complete: complete ?? soFar() };
}

/** Edits of every kind that no list shows: most in documents, some in stock, some in the CRM. */
function hidden({ service }: VirtualCompany): { resource: string; id: number }[] {
  const kinds = [...detailed, ...parentNames];
  const rounds = Math.ceil(hiddenEdits / kinds.length);
  return Array.from({ length: hiddenEdits }, (_, i) => {
    const resource = kinds[i % kinds.length] ?? "";
    return {
      resource,
      id: 1 + Math.floor((service.count(resource) * Math.floor(i / kinds.length)) / rounds),
    };
  });
}

/** How many hidden edits stand in the mirror's tables. */
function countFound(company: VirtualCompany): Promise<number> {
  const columns: Readonly<Record<string, string>> = {
    price_list_items:
      "SELECT count(*) FROM price_list_item_stocks WHERE stock_quantity > 0 AND price_list_item_id = ?",
    clients:
      "SELECT count(*) FROM contact_activity_logs WHERE metadata_content <> 'text 0' AND client_id = ?",
    suppliers:
      "SELECT count(*) FROM contact_activity_logs WHERE metadata_content <> 'text 0' AND supplier_id = ?",
    business_cases:
      "SELECT count(*) FROM contact_activity_logs WHERE metadata_content <> 'text 0' AND business_case_id = ?",
  };
  return company.look(({ db }) =>
    hidden(company).reduce((sum, { resource, id }) => {
      const sql = columns[resource] ?? `SELECT count(*) FROM ${resource} WHERE note <> 'note 0' AND id = ?`;
      return sum + Number(db.prepare(sql).pluck().get(id));
    }, 0),
  );
}

/**
 * One document in a hundred changes during the day before this night, so that its list shows it; behind webhooks
 * each change is an event. Returns the requests that the events cost.
 */
async function changeOnePercent(company: VirtualCompany, one: Case, night: number): Promise<number> {
  const { service, clock } = company;
  const changes = documentNames.flatMap((resource) =>
    Array.from({ length: Math.floor(service.count(resource) / 100) }, (_, i) => ({
      resource,
      id: 1 + i * 100,
    })),
  );
  for (const { resource, id } of changes) service.edit(resource, id, "shown");
  if (!one.webhooks) return 0;
  const startMs = clock.nowMs();
  const endMs = firstDayMs + night * dayMs - 600_000;
  const events = changes.map(({ resource, id }, i) => {
    const type = `${resource.replaceAll("_", "-")}.updated`;
    return { type, id, atMs: startMs + ((endMs - startMs) * i) / changes.length };
  });
  return (await costOf(company, () => company.receive(events, endMs))).requests;
}

/** What `serve` notes of a day: deliveries could be received all the time, and one arrived. */
async function receiveOne(company: VirtualCompany): Promise<void> {
  const nowMs = company.clock.nowMs();
  await company.receive([{ type: "invoices.updated", id: 1, atMs: nowMs }], nowMs + 120_000);
  await company.look(({ db }) => {
    db.prepare("DELETE FROM _receiver").run();
    const sql = "INSERT INTO _receiver (started_ms, seen_ms) VALUES (?, ?)";
    db.prepare(sql).run(firstDayMs - dayMs, company.clock.nowMs());
  });
}

/** How long ago the stalest record of these resources was read, ms. */
function oldest({ service, clock }: VirtualCompany, resources: readonly string[]): number {
  const { readAtMs } = service.served;
  const times = resources.map((name) =>
    readAtMs
      .get(name)
      ?.subarray(1)
      .reduce((a, b) => Math.min(a, b)),
  );
  return clock.nowMs() - Math.min(...times.map((time) => time ?? 0));
}

function tableOf(figures: readonly PlanFigures[]): string {
  const head = [
    "documents, parents",
    "events",
    "first headers",
    "first details",
    "unchanged night",
    "night with 1 % changed",
    "oldest detail, parent",
    "hidden edits found after 1, 4, 30 nights",
  ];
  const rows = figures.map((one) => [
    `${formatCount(one.documents)}, ${formatCount(one.parents)}`,
    one.webhooks ? "webhooks" : "none",
    costText(one.headers),
    costText(one.complete),
    costText(one.unchanged),
    `${costText(one.changed)}${one.webhooks ? ` and ${formatCount(one.events)} for events` : ""}`,
    `${one.oldestDetail.toFixed(1)} d, ${one.oldestParent.toFixed(1)} d`,
    lookedAfter.map((after) => one.found.get(after) ?? "-").join(", "),
  ]);
  return markdownTable(head, rows);
}

function costText({ requests, ms }: Cost): string {
  return `${formatCount(requests)}, ${formatDuration(ms)}`;
}
