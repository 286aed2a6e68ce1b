import type { Clock } from "../../../src/base/clock.ts";
import { dayOf } from "./base/calendar.ts";
import { SeededRandom } from "./base/seeded-random.ts";
import type { JsonObject } from "./base/values.ts";
import { mailsOf, type SentMail } from "./domain/documents/payment-rules.ts";
import { emit } from "./domain/emit.ts";
import type { FaultPlan } from "./faults/fault-plan.ts";
import type { Fault } from "./faults/fault.ts";
import { english, languageNamed } from "./lookups/languages.ts";
import type { TableName } from "./model/catalogue.ts";
import type { EventListener, SandboxEvent } from "./model/event-log.ts";
import { tableOf } from "./routes/record-views.ts";
import type { Router } from "./routes/router.ts";
import { Missing } from "./rules/refusals.ts";
import type { Limiter, LimiterOptions } from "./service/limiter.ts";
import type { Tokens } from "./service/tokens.ts";
import { snapshotOf, type Snapshot } from "./snapshot.ts";
import { trigger, type Triggered, type TriggerOptions } from "./traffic/actions.ts";
import { Actor } from "./traffic/actor.ts";
import { demoChanges, type DemoChange } from "./traffic/demo-changes.ts";
import { startTick, type Tick, type TickOptions } from "./traffic/tick.ts";
import { webhookControlOf, type SendingCompany, type WebhookControl } from "./webhooks/delivery-control.ts";
import type { DeliveryShares } from "./webhooks/delivery-faults.ts";

/**
 * The sandbox from the inside: no HTTP, no budget, no faults; the same rules and the same events. Without
 * an index it is about the first company, where it does not say otherwise.
 */
export interface Control {
  /** Gives the record as its detail shows it; throws `Invalid` where the service would answer 422. */
  create(table: TableName, input: unknown, company?: number): JsonObject;
  update(table: TableName, id: number, input: unknown, company?: number): JsonObject;
  remove(table: TableName, id: number, company?: number): void;
  /**
   * Changes fields of a record as the sandbox keeps it (model/company-records.ts), past every rule: what the
   * web application may do and the API may not. With `event` an event is emitted.
   */
  alter(
    table: TableName,
    id: number,
    changes: Readonly<Record<string, unknown>>,
    how?: { readonly event?: boolean; readonly company?: number },
  ): void;
  /** Returns what removes the fault. */
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
  /** Makes an event happen by a fitting change; with `forge` emits it without one. */
  trigger(event: string, id?: number | null, how?: ForCompany & Pick<TriggerOptions, "forge">): Triggered;
  /** Starts a working day (`sandbox tick`); it ends with the sandbox at the latest. */
  day(options?: TickOptions & ForCompany & { readonly seed?: number | undefined }): Tick;
  /** What `demo` does to the first company, ready to be done. */
  demoChanges(): readonly DemoChange[];
  /** Changes what goes wrong from now on on the way to receivers; for all companies, or for one. */
  deliveries(shares: Partial<DeliveryShares>, company?: number): void;
  /** What the subscription's deliveries are signed with now. */
  secret(subscription: number, company?: number): string;
  /** Bugs of the sandbox itself; empty in a sound run. */
  failures(): readonly unknown[];
  readonly clock: Clock;
}

interface ForCompany {
  readonly company?: number | undefined;
}

/** A company with what serves it alone. */
export interface OpenCompany extends SendingCompany {
  readonly limiter: Limiter;
}

interface ControlParts {
  readonly companies: readonly OpenCompany[];
  readonly router: Router;
  readonly tokens: Tokens;
  readonly faults: FaultPlan;
  readonly clock: Clock;
  readonly seed: number;
  readonly failures: readonly unknown[];
  /** Aborts when the sandbox ends. */
  readonly closing: AbortSignal;
}

/** Gives the control over a sandbox's parts. */
export function controlOf(parts: ControlParts): Control {
  const { companies, router, faults, tokens, seed } = parts;
  const at = (index = 0) => {
    const open = companies[index];
    if (!open) throw new Error(`broken promise: the sandbox has a company ${index}`);
    return open;
  };
  const chosen = (index?: number) => (index === undefined ? companies : [at(index)]);
  const ownRandom = new SeededRandom(seed);
  const actor = (index?: number, random = ownRandom) => new Actor(router, at(index).company, random);
  const recordIn = <K extends TableName>(index: number | undefined, table: K, id: number) => {
    const record = tableOf(at(index).company, table).get(id);
    if (!record) throw new Missing();
    return record;
  };
  return {
    create: (table, input, index) => actor(index).write("POST", table, null, input),
    update: (table, id, input, index) => actor(index).write("PUT", table, id, input),
    remove: (table, id, index) => void actor(index).write("DELETE", table, id, {}),
    alter: (table, id, changes, how = {}) => {
      const { company } = at(how.company);
      tableOf(company, table).replace({ ...recordIn(how.company, table, id), ...changes });
      if (how.event) emit(company, table, "updated", id);
    },
    fault: (fault) => faults.add(fault),
    clearFaults: () => faults.clear(),
    limiter: (options, index) => {
      for (const { limiter } of chosen(index)) limiter.change(options);
    },
    events: (index) => at(index).company.events.list(),
    onEvent: (listener, index) => at(index).company.events.subscribe(listener),
    mails: (index) => mailsOf(at(index).company),
    snapshot: (index, language = "en") => snapshotOf(at(index).company, languageNamed(language) ?? english),
    setToday: (date) => {
      for (const { company } of companies) company.settings.today = dayOf(date);
    },
    rename: (name, index) => {
      at(index).company.settings.name = name;
    },
    revoke: (token) => tokens.revoke(token),
    trigger: (event, id, { forge, company } = {}) =>
      trigger(actor(company), event, { forge, id: id ?? undefined }),
    day: ({ company, seed: ownSeed = seed, ...options } = {}) => {
      const tick = startTick(actor(company, new SeededRandom(ownSeed)), options);
      parts.closing.addEventListener("abort", () => tick.stop(), { once: true });
      return tick;
    },
    demoChanges: () => demoChanges(actor()),
    webhooks: webhookControlOf(companies, at),
    deliveries: (shares, index) => {
      for (const { sender } of chosen(index)) sender.faults.change(shares);
    },
    secret: (subscription, index) => recordIn(index, "webhook_subscriptions", subscription).secret,
    failures: () => [...parts.failures],
    clock: parts.clock,
  };
}
