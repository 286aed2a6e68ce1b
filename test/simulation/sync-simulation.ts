import type { LimiterKind } from "../../connectors/fintoro/sandbox/service/limiter.ts";
import { seededRandom } from "../support/seeded-random.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import type { CompanyReport } from "../../src/sync/context/run-report.ts";
import { localDamage } from "../support/mirror/local-check.ts";
import {
  differences,
  falseTombstones,
  look,
  provisionalMistakes,
  unreplayable,
} from "../support/truth/compare.ts";
import {
  testRateLimiter,
  fastClock,
  openCompany,
  sync,
  type Company,
  type SyncOptions,
} from "../support/company/open-company.ts";
import { seededChoice, transientFaults, mutate, type SeededChoice } from "../support/company/scenario.ts";
import { jsonReply } from "../support/company/proxy.ts";
import { documentTables, truthOf } from "../support/truth/truth.ts";

/** What happened in the simulation of one seed, and which invariants broke. */
export interface SimulationResult {
  readonly seed: number;
  readonly events: readonly string[];
  readonly broken: readonly string[];
}

const windowMs = 60_000;

/**
 * Simulates one seed: a company that changes, a service whose requests fail, one of the limiter kinds, runs that are
 * interrupted, and at the end a quiet run after which mirror and service must be equal.
 */
export async function simulate(seed: number): Promise<SimulationResult> {
  const choice = seededChoice(seededRandom(seed));
  const clock = fastClock();
  const limiter = choice.one<LimiterKind>(["fixed", "whole_seconds", "hit_time"]);
  const limit = 20 + choice.below(100);
  const company = await openCompany({ seed, records: 6 + choice.below(40), limiter, limit, windowMs, clock });
  const smallPages = choice.probability(0.5);
  const events = [`limiter ${limiter}, ${limit} a window${smallPages ? ", pages of ten" : ""}`];
  const broken: string[] = [];
  const rateLimiter = testRateLimiter(clock, windowMs);
  try {
    const runs = 2 + choice.below(3);
    for (let run = 0; run < runs && broken.length === 0; run++) {
      if (smallPages) refuseLargePages(company);
      events.push(await faultyRun(company, choice, { rateLimiter }));
      broken.push(...(await violations(company)));
    }
    if (smallPages) refuseLargePages(company);
    if (broken.length === 0) broken.push(...(await quietRuns(company, { rateLimiter })));
  } finally {
    await company.close();
  }
  return { seed, events, broken };
}

const notPaged = /^.(contact-activity-logs|whoami)/;

/** Refuses pages of more than ten records, so that lists of a small company have several pages. */
function refuseLargePages({ proxy }: Company): void {
  const errors = { perPage: ["The per page field must not be greater than 10."] };
  const refusal = jsonReply(422, { message: "The given data was invalid.", errors });
  proxy.obstruct(({ path, query }) =>
    !notPaged.test(path) && Number(query.get("perPage") ?? 0) > 10 ? refusal : undefined,
  );
}

async function faultyRun(company: Company, choice: SeededChoice, options: SyncOptions): Promise<string> {
  for (let count = choice.below(5); count > 0; count--) mutate(company, choice);
  const rate = choice.one([0, 0.02, 0.1]);
  const movement = choice.one([0, 0.05, 0.2]);
  company.proxy.obstruct(async (_asked, passOn) => {
    if (choice.probability(rate)) return choice.one(transientFaults)();
    if (!choice.probability(movement)) return undefined;
    if (choice.probability(0.5)) mutate(company, choice);
    const reply = await passOn();
    mutate(company, choice);
    return reply;
  });
  const ending = await endedRun(company, choice, {
    ...options,
    full: choice.probability(0.2),
    allowMassDelete: choice.probability(0.7),
  });
  company.recover();
  return `${ending} (failures ${rate}, changes between pages ${movement})`;
}

/** A run that may be interrupted, or killed between two answers. */
async function endedRun(company: Company, choice: SeededChoice, options: SyncOptions): Promise<string> {
  const end = choice.one(["completed", "completed", "interrupted", "killed", "limited"] as const);
  const at = company.proxy.asked.length + 1 + choice.below(90);
  const stop = new AbortController();
  let mirror: Mirror | null = null;
  const remove = company.proxy.obstruct((asked) => {
    if (asked.n < at || end === "completed" || end === "limited") return undefined;
    remove();
    if (end === "killed") mirror?.db.close();
    else stop.abort();
    return undefined;
  });
  try {
    const onMirror: SyncOptions["onMirror"] = (opened) => (mirror = opened);
    const limited = end === "limited" ? { mostRequests: 1 + choice.below(90) } : {};
    return summaryOf(await sync(company, { ...options, ...limited, signal: stop.signal, onMirror }));
  } catch (error) {
    if (end !== "killed") throw error;
    return "killed";
  } finally {
    remove();
  }
}

function summaryOf({ outcome, requests, troubles }: CompanyReport): string {
  return `${outcome} after ${requests.total} requests${troubles.map((one) => `; ${one.resource}: ${one.message}`).join("")}`;
}

/** Broken invariants; checked after every run, however it ended. */
async function violations(company: Company): Promise<string[]> {
  const refused = company.sandbox.requests().filter(({ status }) => status === 429);
  return [
    ...falseTombstones(company.file, truthOf(company.sandbox)).map((what) => `I5 ${what}`),
    ...unreplayable(company.file).map((what) => `I2 ${what}`),
    ...provisionalMistakes(company.file, documentTables).map((what) => `I3 ${what}`),
    ...(await localDamage(company)).map((what) => `against itself: ${what}`),
    ...refused.slice(0, 3).map(({ path }) => `I8 ${path} was refused with 429`),
    ...company.sandbox.control.failures().map((failure) => `the sandbox itself failed: ${String(failure)}`),
  ];
}

/**
 * Runs without changes: what lists show is equal after one run, the rest after all details were read. A run that
 * resumes an interrupted one trusts its lists, so it does not count as that run.
 */
async function quietRuns(company: Company, options: SyncOptions): Promise<string[]> {
  const quiet = { ...options, allowMassDelete: true, parentsPerRun: "all" } as const;
  let first = await sync(company, quiet);
  if (first.resumed) first = await sync(company, quiet);
  const truth = truthOf(company.sandbox);
  const shownInFull = [...truth.keys()].filter((table) => !hasDetailsOnly(table));
  const early = look(company.file, (db) => differences(db, truth, shownInFull));
  const full = await sync(company, { ...options, full: true, allowMassDelete: true });
  const late = look(company.file, (db) => differences(db, truth));
  return [
    ...(first.outcome === "complete" ? [] : [`the quiet run is ${summaryOf(first)}`]),
    ...early.map((what) => `I11 after a quiet run: ${what}`),
    ...(full.outcome === "complete" ? [] : [`the full run is ${summaryOf(full)}`]),
    ...late.map((what) => `I11 after a full run: ${what}`),
    ...(await violations(company)),
  ];
}

function hasDetailsOnly(table: string): boolean {
  return table === "document_payments" || (documentTables as readonly string[]).includes(table);
}
