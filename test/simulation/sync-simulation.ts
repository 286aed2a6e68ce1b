import type { LimiterKind } from "../../connectors/fintoro/sandbox/service/limiter.ts";
import { seededRandom } from "../../src/base/random.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import type { CompanyReport } from "../../src/sync/context/run-report.ts";
import { differences, falseTombstones, look, unreplayable } from "../support/compare.ts";
import {
  aGovernor,
  hastyClock,
  openCompany,
  sync,
  type Company,
  type SyncOptions,
} from "../support/open-company.ts";
import { diceOf, hiccups, mutate, type Dice } from "../support/scenario.ts";
import { jsonReply } from "../support/proxy.ts";
import { documentTables, truthOf } from "../support/truth.ts";

/** What one seed told: what happened, and what did not hold. */
export interface Story {
  readonly seed: number;
  readonly events: readonly string[];
  readonly broken: readonly string[];
}

const windowMs = 60_000;

/**
 * One seed, one story: a company that changes, a service that stumbles, a limiter of some kind, runs that
 * are cut off, and at the end a quiet run after which mirror and service must be equal.
 */
export async function simulate(seed: number): Promise<Story> {
  const dice = diceOf(seededRandom(seed));
  const clock = hastyClock();
  const limiter = dice.one<LimiterKind>(["fixed", "whole_seconds", "hit_time"]);
  const limit = 20 + dice.below(100);
  const company = await openCompany({ seed, records: 6 + dice.below(40), limiter, limit, windowMs, clock });
  const narrow = dice.chance(0.5);
  const events = [`limiter ${limiter}, ${limit} a window${narrow ? ", pages of ten" : ""}`];
  const broken: string[] = [];
  const governor = aGovernor(clock, windowMs);
  try {
    const runs = 2 + dice.below(3);
    for (let run = 0; run < runs && broken.length === 0; run++) {
      if (narrow) takeTenAtMost(company);
      events.push(await stormyRun(company, dice, { governor }));
      broken.push(...violations(company));
    }
    if (narrow) takeTenAtMost(company);
    if (broken.length === 0) broken.push(...(await quietRuns(company, { governor })));
  } finally {
    await company.close();
  }
  return { seed, events, broken };
}

const notPaged = /^.(contact-activity-logs|whoami)/;

/** Lists of several pages in a small company: larger ones are refused. */
function takeTenAtMost({ proxy }: Company): void {
  const errors = { perPage: ["The per page field must not be greater than 10."] };
  const refusal = jsonReply(422, { message: "The given data was invalid.", errors });
  proxy.obstruct(({ path, query }) =>
    !notPaged.test(path) && Number(query.get("perPage") ?? 0) > 10 ? refusal : undefined,
  );
}

async function stormyRun(company: Company, dice: Dice, options: SyncOptions): Promise<string> {
  for (let count = dice.below(5); count > 0; count--) mutate(company, dice);
  const rate = dice.one([0, 0.02, 0.1]);
  const movement = dice.one([0, 0.05, 0.2]);
  company.proxy.obstruct(async (_asked, passOn) => {
    if (dice.chance(rate)) return dice.one(hiccups)();
    if (!dice.chance(movement)) return undefined;
    if (dice.chance(0.5)) mutate(company, dice);
    const reply = await passOn();
    mutate(company, dice);
    return reply;
  });
  const ending = await endedRun(company, dice, {
    ...options,
    full: dice.chance(0.2),
    allowMassDelete: dice.chance(0.7),
  });
  company.recover();
  return `${ending} (stumbles ${rate}, moves ${movement})`;
}

/** A run that may be interrupted, or die between two answers without a last word. */
async function endedRun(company: Company, dice: Dice, options: SyncOptions): Promise<string> {
  const end = dice.one(["lived", "lived", "interrupted", "killed", "limited"] as const);
  const at = company.proxy.asked.length + 1 + dice.below(90);
  const stop = new AbortController();
  let mirror: Mirror | null = null;
  const remove = company.proxy.obstruct((asked) => {
    if (asked.n < at || end === "lived" || end === "limited") return undefined;
    remove();
    if (end === "killed") mirror?.db.close();
    else stop.abort();
    return undefined;
  });
  try {
    const onMirror: SyncOptions["onMirror"] = (opened) => (mirror = opened);
    const limited = end === "limited" ? { mostRequests: 1 + dice.below(90) } : {};
    return told(await sync(company, { ...options, ...limited, signal: stop.signal, onMirror }));
  } catch (error) {
    if (end !== "killed") throw error;
    return "killed";
  } finally {
    remove();
  }
}

function told({ outcome, requests, troubles }: CompanyReport): string {
  return `${outcome} after ${requests.total} requests${troubles.map((one) => `; ${one.resource}: ${one.message}`).join("")}`;
}

/** What must hold after every run, however it ended. */
function violations(company: Company): string[] {
  const refused = company.sandbox.requests().filter(({ status }) => status === 429);
  return [
    ...falseTombstones(company.file, truthOf(company.sandbox)).map((what) => `I5 ${what}`),
    ...unreplayable(company.file).map((what) => `I2 ${what}`),
    ...refused.slice(0, 3).map(({ path }) => `I8 ${path} was refused with 429`),
    ...company.sandbox.control.failures().map((failure) => `the sandbox itself failed: ${String(failure)}`),
  ];
}

/**
 * Nothing changes any more: what lists show is equal after one run, the rest after reading all details.
 * A run that goes on with an interrupted one trusts the lists of a moment ago, and is not yet that run.
 */
async function quietRuns(company: Company, options: SyncOptions): Promise<string[]> {
  let first = await sync(company, { ...options, allowMassDelete: true });
  if (first.resumed) first = await sync(company, { ...options, allowMassDelete: true });
  const truth = truthOf(company.sandbox);
  const shownInFull = [...truth.keys()].filter((table) => !hasDetailsOnly(table));
  const early = look(company.file, (db) => differences(db, truth, shownInFull));
  const full = await sync(company, { ...options, full: true, allowMassDelete: true });
  const late = look(company.file, (db) => differences(db, truth));
  return [
    ...(first.outcome === "complete" ? [] : [`the quiet run is ${told(first)}`]),
    ...early.map((what) => `I11 after a quiet run: ${what}`),
    ...(full.outcome === "complete" ? [] : [`the full run is ${told(full)}`]),
    ...late.map((what) => `I11 after a full run: ${what}`),
    ...violations(company),
  ];
}

function hasDetailsOnly(table: string): boolean {
  return table === "document_payments" || (documentTables as readonly string[]).includes(table);
}
