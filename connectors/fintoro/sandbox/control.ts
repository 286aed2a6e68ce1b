import { dayOf } from "./base/calendar.ts";
import { SeededRandom } from "./base/seeded-random.ts";
import type { JsonObject } from "./base/values.ts";
import { emit, type Company } from "./domain/company-state.ts";
import type { Fault } from "./faults/service-fault.ts";
import { english, languageNamed, type Language } from "./lookups/languages.ts";
import { lookupList, lookupNames } from "./lookups/lookup-lists.ts";
import type { TableName } from "./model/catalogue.ts";
import type { EventListener } from "./model/event-log.ts";
import { tablesWithViews, detailViewOf } from "./routes/record-views.ts";
import { Missing } from "./rules/problems.ts";
import type { Limiter, LimiterOptions } from "./service/limiter.ts";
import type { ServiceParts } from "./service/http-service.ts";
import { Actor } from "./traffic/actor.ts";
import { startTick, type TickOptions } from "./traffic/tick.ts";
import { demoChanges, trigger } from "./traffic/trigger.ts";
import { webhookControlOf, type SendingCompany } from "./webhooks/delivery-control.ts";
import type { DeliveryShares } from "./webhooks/delivery-faults.ts";

interface AlterOptions {
  readonly event?: boolean;
  readonly company?: number;
}

interface TriggerOptions {
  readonly forge?: boolean | undefined;
  readonly company?: number | undefined;
}

/** A company with what serves it alone. */
export interface OpenCompany extends SendingCompany {
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
  const at = (index = 0) => {
    const open = companies[index];
    if (!open) throw new Error(`broken promise: the sandbox has a company ${index}`);
    return open;
  };
  const chosen = (index?: number) => (index === undefined ? companies : [at(index)]);
  const ownRandom = new SeededRandom(seed);
  const actor = (index?: number, random = ownRandom) => new Actor(parts.router, at(index).company, random);
  return {
    clock,
    webhooks: webhookControlOf(at, chosen),
    /** Gives the record as its detail shows it; throws `Invalid` where the service would answer 422. */
    create: (table: TableName, input: unknown, index?: number) =>
      actor(index).write("POST", table, null, input),
    update: (table: TableName, id: number, input: unknown, index?: number) =>
      actor(index).write("PUT", table, id, input),
    remove: (table: TableName, id: number, index?: number) =>
      void actor(index).write("DELETE", table, id, {}),
    /**
     * Changes fields of a record as the sandbox keeps it (model/company-records.ts), past every rule: what
     * the web application may do and the API may not. With `event` an event is emitted.
     */
    alter: (table: TableName, id: number, changes: object, { event, company: index }: AlterOptions = {}) => {
      const { company } = at(index);
      const records = company.tables[table];
      records.replace({ ...existing(records.get(id)), ...changes } as never);
      if (event) emit(company, table, "updated", id);
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
      existing(at(index).company.tables.webhook_subscriptions.get(subscription)).secret,
    /** Bugs of the sandbox itself; empty in a sound run. */
    failures: () => [...parts.failures],
  };
}

function existing<T>(record: T | undefined): T {
  if (record === undefined) throw new Missing();
  return record;
}

/** Table name -> id -> record. The company's own record has id 1. */
export type Snapshot = ReadonlyMap<string, ReadonlyMap<number, JsonObject>>;

/** Everything a company has, each record as its own route would show it now. */
function snapshotOf(company: Company, language: Language): Snapshot {
  const all = new Map<string, ReadonlyMap<number, JsonObject>>();
  all.set("company", new Map([[1, { name: company.settings.name }]]));
  for (const name of lookupNames) all.set(name.replaceAll("-", "_"), byId(lookupList(name, language)));
  for (const name of tablesWithViews) {
    const records = [...company.tables[name].values()];
    all.set(name, byId(records.map((record) => detailViewOf(name)(company, record as never, language))));
  }
  return all;
}

function byId(records: readonly JsonObject[]): ReadonlyMap<number, JsonObject> {
  return new Map(records.map((record) => [Number(record["id"]), record]));
}
