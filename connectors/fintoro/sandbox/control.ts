import { systemClock } from "../../../src/base/clock.ts";
import { dayOf } from "./base/calendar.ts";
import { SeededRandom } from "./base/seeded-random.ts";
import type { JsonObject } from "./base/values.ts";
import { seriesView } from "./documents/number-series.ts";
import type { Fault } from "./faults/service-fault.ts";
import { english, languageNamed, type Language } from "./lookups/languages.ts";
import { lookupList, lookupNames } from "./lookups/lookup-lists.ts";
import { tableNames, type TableName } from "./model/catalogue.ts";
import { emit, type Company, type EventListener, type RecordOf } from "./model/company-state.ts";
import { Actor } from "./samples/actor.ts";
import type { Limiter, LimiterOptions } from "./service/limiter.ts";
import type { ServiceParts } from "./service/http-service.ts";
import { startTick, type TickOptions } from "./traffic/tick.ts";
import { demoChanges, present, collectionOf, trigger } from "./traffic/trigger.ts";
import type { DeliveryShares } from "./webhooks/delivery-faults.ts";
import type { Sender } from "./webhooks/sender.ts";

/** A company with what serves it alone. */
export interface OpenCompany {
  readonly company: Company;
  readonly sender: Sender;
  readonly limiter: Limiter;
}

interface ControlParts extends ServiceParts {
  readonly companies: readonly OpenCompany[];
  readonly seed: number;
  /** Aborts when the sandbox ends. */
  readonly closing: AbortSignal;
}

/**
 * The sandbox from the inside: no HTTP, no budget, no faults; the same rules and the same events. Without a
 * company's index it is about the first one, where it does not say otherwise.
 */
export type Control = ReturnType<typeof controlOf>;

/** Gives the control over a sandbox's parts. */
export function controlOf(parts: ControlParts) {
  const { companies, faults, tokens, seed, clock } = parts;
  const at = (index = 0) => present(companies[index]);
  const chosen = (index?: number) => (index === undefined ? companies : [at(index)]);
  const ownRandom = new SeededRandom(seed);
  const actor = (index?: number, random = ownRandom) => new Actor(at(index).company, random);
  const known = (table: TableName, id: number, index?: number): RecordOf<TableName> =>
    present(at(index).company.tables[table].get(id));
  return {
    clock,
    webhooks: deliveriesOf(at, chosen),
    /** Gives the record as its detail shows it; throws `Invalid` where the service would answer 422. */
    create: (table: TableName, input: unknown, index?: number) => {
      const { company } = at(index);
      return collectionOf(table).view(company, collectionOf(table).create(company, input), english);
    },
    update: (table: TableName, id: number, input: unknown, index?: number) => {
      const { company } = at(index);
      const changed = collectionOf(table).update(company, known(table, id, index), input);
      return collectionOf(table).view(company, changed, english);
    },
    remove: (table: TableName, id: number, index?: number) =>
      collectionOf(table).remove(at(index).company, known(table, id, index)),
    /**
     * Changes fields of a record as the sandbox keeps it (model/records.ts), past every rule: what
     * the web application may do and the API may not. With `event` an event is emitted.
     */
    alter: (
      table: TableName,
      id: number,
      changes: object,
      how: { event?: boolean; company?: number } = {},
    ) => {
      const { company } = at(how.company);
      company.tables[table].replace({ ...known(table, id, how.company), ...changes } as never);
      if (how.event) emit(company, table, "updated", id);
    },
    /** Returns what removes the fault. */
    fault: (fault: Fault) => faults.add(fault),
    clearFaults: () => faults.clear(),
    /** For all companies, or for one. */
    limiter: (options: Partial<LimiterOptions>, index?: number) => {
      for (const { limiter } of chosen(index)) limiter.change(options);
    },
    events: (index?: number) => at(index).company.events.list(),
    onEvent: (listener: EventListener, index?: number) => at(index).company.events.subscribe(listener),
    mails: (index?: number) => at(index).company.mails,
    /** Every record by table and id, as its detail shows it. */
    snapshot: (index?: number, language = "en") =>
      snapshotOf(at(index).company, languageNamed(language) ?? english),
    /** Statuses by due date follow it. */
    setToday: (date: string) => {
      for (const { company } of companies) company.settings.today = dayOf(date);
    },
    rename: (name: string, index?: number) => {
      at(index).company.settings.name = name;
    },
    revoke: (token: string) => void tokens.delete(token),
    /** Makes an event happen by a fitting change; with `forge` emits it without one. */
    trigger: (event: string, id: number | null = null, { forge, company }: TriggerOptions = {}) =>
      trigger(actor(company), event, id, forge),
    /** Starts a working day (`sandbox tick`); it ends with the sandbox at the latest. */
    day: (options: TickOptions = {}) => {
      const tick = startTick(actor(options.company, new SeededRandom(options.seed ?? seed)), options);
      parts.closing.addEventListener("abort", () => tick.stop(), { once: true });
      return tick;
    },
    /** What `demo` does to the first company, ready to be done. */
    demoChanges: () => demoChanges(actor()),
    /** Changes what goes wrong from now on on the way to receivers; for all companies, or for one. */
    deliveries: (shares: Partial<DeliveryShares>, index?: number) => {
      for (const { sender } of chosen(index)) sender.faults.change(shares);
    },
    /** What the subscription's deliveries are signed with now. */
    secret: (subscription: number, index?: number) =>
      present(at(index).company.tables.webhook_subscriptions.get(subscription)).secret,
    /** Bugs of the sandbox itself; empty in a sound run. */
    failures: () => [...parts.failures],
  };
}

interface TriggerOptions {
  readonly forge?: boolean | undefined;
  readonly company?: number | undefined;
}

/** Deliveries seen from the inside. Without an index: the first company's, or all of them for `pending` and `idle`. */
function deliveriesOf(
  at: (index?: number) => OpenCompany,
  chosen: (index?: number) => readonly OpenCompany[],
) {
  const pendingWithin = (ms: number, index?: number) =>
    chosen(index).reduce((sum, { sender }) => sum + sender.pendingWithin(ms), 0);
  return {
    /** Every attempt so far, oldest first. */
    history: (subscription?: number, index?: number) =>
      at(index)
        .sender.attempts.list()
        .filter((one) => subscription === undefined || one.subscription === subscription),
    /** Deliveries that are neither delivered nor given up, retries included. */
    pending: (index?: number) => pendingWithin(Number.POSITIVE_INFINITY, index),
    /**
     * Resolves when nothing waits to be sent; rejects after `timeoutMs`. Retries that are due later than
     * `withinMs` do not count.
     */
    idle: async (timeoutMs = 10_000, { withinMs = 1_000, company }: IdleOptions = {}) => {
      const end = new AbortController();
      const endsMs = systemClock.monotonicMs() + timeoutMs;
      const deadline = systemClock.sleep(timeoutMs, end.signal);
      for (let count; (count = pendingWithin(withinMs, company)) > 0;) {
        if (systemClock.monotonicMs() >= endsMs)
          throw new Error(`${count} deliveries are still waiting after ${timeoutMs} ms`);
        await Promise.race([deadline, ...chosen(company).map(({ sender }) => sender.nextAttempt())]);
      }
      end.abort();
    },
  };
}

interface IdleOptions {
  readonly withinMs?: number;
  readonly company?: number;
}

/** Table name -> id -> record. The company's own record has id 1. */
export type Snapshot = ReadonlyMap<string, ReadonlyMap<number, JsonObject>>;

/** Everything a company has, everyKey record as its own route would show it now. */
function snapshotOf(company: Company, language: Language): Snapshot {
  const { tables, settings } = company;
  const series = Array.from(tables.numerical_series.values(), (one) => seriesView(company, one));
  const viewsOf = (name: TableName) => {
    const records: Iterable<RecordOf<TableName>> = tables[name].values();
    return Array.from(records, (one) => collectionOf(name).view(company, one, language));
  };
  return new Map<string, ReadonlyMap<number, JsonObject>>([
    ["company", new Map([[1, { name: settings.name }]])],
    ...lookupNames.map((name) => [name.replaceAll("-", "_"), byId(lookupList(name, language))] as const),
    ...tableNames.map((name) => [name, byId(viewsOf(name))] as const),
    ["numerical_series", byId(series)],
  ]);
}

function byId(records: readonly JsonObject[]): ReadonlyMap<number, JsonObject> {
  return new Map(records.map((one) => [Number(one["id"]), one]));
}
