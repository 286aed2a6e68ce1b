import type { Clock } from "../../../src/base/clock.ts";
import { mailsOf } from "./domain/documents/payment-rules.ts";
import type { SentMail } from "./model/company-records.ts";
import type { Company, Tables } from "./domain/company-state.ts";
import { startDay, type Day, type DayOptions } from "./day/day.ts";
import { Hand } from "./day/hand.ts";
import { trigger, type Triggered } from "./day/trigger.ts";
import { emit } from "./domain/company-state.ts";
import type { Fault } from "./faults/fault.ts";
import type { FaultPlan } from "./faults/plan.ts";
import { dayOf } from "./base/calendar.ts";
import { SeededRandom } from "./base/seeded-random.ts";
import { languageNamed } from "./lookups/languages.ts";
import type { TableName } from "./model/catalogue.ts";
import type { EventListener, SandboxEvent } from "./model/event-log.ts";
import { Missing } from "./rules/refusals.ts";
import type { Limiter, LimiterOptions } from "./service/limiter.ts";
import type { Router } from "./service/route.ts";
import type { Tokens } from "./service/tokens.ts";
import { english, writeInside } from "./service/write-inside.ts";
import { snapshotOf, type Snapshot } from "./snapshot.ts";
import type { JsonObject } from "./base/values.ts";
import { webhookControlOf, type WebhookControl } from "./webhooks/control.ts";
import type { Courier } from "./webhooks/courier.ts";
import type { DeliveryShares } from "./webhooks/mischief.ts";

/** The sandbox from the inside: no HTTP, no budget, no faults; the same rules and the same events. */
export interface Control {
  /** Gives the record as its detail shows it; throws `Invalid` where the service would answer 422. */
  create(table: TableName, input: unknown, company?: number): JsonObject;
  update(table: TableName, id: number, input: unknown, company?: number): JsonObject;
  remove(table: TableName, id: number, company?: number): void;
  /**
   * Changes fields of the record as the sandbox keeps it (model/records.ts), past every rule: what the
   * web application may do and the API may not. With `event` the change is told.
   */
  alter(table: TableName, id: number, changes: Readonly<Record<string, unknown>>, how?: AlterOptions): void;
  /** Returns what takes the fault away again. */
  fault(fault: Fault): () => void;
  clearFaults(): void;
  /** For all companies, or for one. */
  limiter(options: Partial<LimiterOptions>, company?: number): void;
  events(company?: number): readonly SandboxEvent[];
  onEvent(listener: EventListener, company?: number): () => void;
  mails(company?: number): readonly SentMail[];
  /** Every record by table and id, as its detail shows it. */
  snapshot(company?: number, language?: string): Snapshot;
  /** Statuses by due date follow it. */
  setToday(date: string): void;
  rename(name: string, company?: number): void;
  revoke(token: string): void;
  readonly webhooks: WebhookControl;
  /** Makes an event happen by a fitting change; `forge` tells it without one. */
  trigger(event: string, id?: number | null, how?: TriggerOptions): Triggered;
  /** A working day in a minute, or as told; it ends with the sandbox at the latest. */
  day(options?: DayOptions & { readonly company?: number | undefined }): Day;
  /** Changes what goes wrong from now on on the way to receivers; for all companies, or for one. */
  deliveries(shares: Partial<DeliveryShares>, company?: number): void;
  /** What the subscription's deliveries are signed with now. */
  secret(subscription: number, company?: number): string;
  /** Bugs of the sandbox itself, met while answering; empty in a sound run. */
  failures(): readonly unknown[];
  readonly clock: Clock;
}

interface AlterOptions {
  readonly event?: boolean;
  readonly company?: number;
}

interface TriggerOptions {
  readonly forge?: boolean | undefined;
  readonly company?: number | undefined;
}

export interface ControlParts {
  readonly seed: number;
  /** Everybody who is at work stops when it aborts. */
  readonly closing: AbortSignal;
  readonly companies: readonly Company[];
  readonly couriers: readonly Courier[];
  readonly router: Router;
  readonly faults: FaultPlan;
  readonly limiters: readonly Limiter[];
  readonly tokens: Tokens;
  readonly clock: Clock;
  readonly failures: readonly unknown[];
}

export function controlOf(parts: ControlParts): Control {
  const { faults, limiters, tokens, clock, failures } = parts;
  const company = (index = 0) => companyAt(parts, index);
  const triggers = new SeededRandom(parts.seed);
  const triggering = (index?: number) => new Hand(parts.router, company(index), triggers);
  return {
    create: (table, input, index) => writeInside(parts.router, company(index), "POST", table, null, input),
    update: (table, id, input, index) => writeInside(parts.router, company(index), "PUT", table, id, input),
    remove: (table, id, index) => void writeInside(parts.router, company(index), "DELETE", table, id, {}),
    alter: (table, id, changes, how = {}) =>
      alter(company(how.company), table, id, changes, how.event ?? false),
    fault: (fault) => faults.add(fault),
    clearFaults: () => faults.clear(),
    limiter: (options, index) => {
      for (const [i, limiter] of limiters.entries())
        if (index === undefined || index === i) limiter.change(options);
    },
    events: (index) => company(index).events.list(),
    onEvent: (listener, index) => company(index).events.subscribe(listener),
    mails: (index) => mailsOf(company(index)),
    snapshot: (index, language = "en") => snapshotOf(company(index), languageNamed(language) ?? english),
    setToday: (date) => {
      for (const { settings } of parts.companies) settings.today = dayOf(date);
    },
    rename: (name, index) => {
      company(index).settings.name = name;
    },
    revoke: (token) => tokens.revoke(token),
    trigger: (event, id, { forge, company: index } = {}) =>
      trigger(triggering(index), event, { forge, id: id ?? undefined }),
    day: ({ company: index, ...options } = {}) => {
      const chance = new SeededRandom(options.seed ?? parts.seed);
      const day = startDay(new Hand(parts.router, company(index), chance), options);
      parts.closing.addEventListener("abort", () => day.stop(), { once: true });
      return day;
    },
    webhooks: webhookControlOf(parts.companies, parts.couriers),
    deliveries: (shares, index) => {
      for (const [i, { mischief }] of parts.couriers.entries())
        if (index === undefined || index === i) mischief.change(shares);
    },
    secret: (subscription, index) => secretOf(company(index), subscription),
    failures: () => [...failures],
    clock,
  };
}

function companyAt({ companies }: ControlParts, index: number): Company {
  const company = companies[index];
  if (!company) throw new Error(`broken promise: the sandbox has a company ${index}`);
  return company;
}

function secretOf({ tables }: Company, id: number): string {
  const subscription = tables.webhook_subscriptions.get(id);
  if (!subscription) throw new Missing();
  return subscription.secret;
}

function alter(
  company: Company,
  table: TableName,
  id: number,
  changes: Readonly<Record<string, unknown>>,
  event: boolean,
): void {
  const records = company.tables[table as "clients"] satisfies Tables["clients"];
  const record = records.get(id);
  if (!record) throw new Missing();
  records.replace({ ...record, ...changes });
  if (event) emit(company, table, "updated", id);
}
