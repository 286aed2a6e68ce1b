import type { Clock } from "../../../src/base/clock.ts";
import { mailsOf, type SentMail } from "./domain/payments.ts";
import type { Company, Tables } from "./domain/company.ts";
import { emit } from "./domain/emit.ts";
import type { Fault } from "./faults/fault.ts";
import type { FaultPlan } from "./faults/plan.ts";
import { dayOf } from "./ground/calendar.ts";
import { languageNamed, type Language } from "./lookups/languages.ts";
import { collections, type TableName } from "./model/catalogue.ts";
import type { EventListener, SandboxEvent } from "./model/events.ts";
import { Missing } from "./rules/problems.ts";
import type { Limiter, LimiterOptions } from "./service/limiter.ts";
import type { Method, Router } from "./service/route.ts";
import type { Tokens } from "./service/tokens.ts";
import { snapshotOf, type Snapshot } from "./snapshot.ts";
import type { JsonObject } from "./view/json.ts";
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

export interface ControlParts {
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
  return {
    create: (table, input, index) => write(parts, company(index), "POST", table, null, input),
    update: (table, id, input, index) => write(parts, company(index), "PUT", table, id, input),
    remove: (table, id, index) => void write(parts, company(index), "DELETE", table, id, {}),
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

const english: Language = { id: 2, code: "en", tag: "en" };

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

/** Through the route's own handler, so that a test cannot write what a client could not. */
function write(
  { router }: ControlParts,
  company: Company,
  method: Method,
  table: TableName,
  id: number | null,
  input: unknown,
): JsonObject {
  const path = `/${collections[table].path}${id === null ? "" : `/${id}`}`;
  const match = [method, "PATCH"]
    .map((wanted) => router.find(wanted, path))
    .find((found) => found && "route" in found);
  if (!match || !("route" in match)) throw new Error(`broken promise: ${method} ${path} is a route`);
  const call = { company, language: english, id: match.id, query: {}, input, files: [], disorder: null };
  const { body } = match.route.handle(call);
  return body.kind === "record" ? body.record : {};
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
