import type { Random } from "../../../src/base/random.ts";
import type { CompanyState } from "./record-models.ts";
import { views } from "./record-views.ts";
import type { LagKind, ServiceClock, ServiceEvent, TableName } from "./service-types.ts";
import { VersionLog } from "./version-log.ts";

/** What a simulated company is made of. */
export interface CompanyParts {
  readonly random: Random;
  readonly clock: ServiceClock;
  readonly lag: LagKind;
  readonly lagMs: number;
}

/** Tables whose records are models; the company itself is the only one without. */
export type ModelTable = Exclude<TableName, "company">;

/** Tables that show something of another table's records. */
const dependents: Readonly<Partial<Record<TableName, readonly TableName[]>>> = {
  units: ["price_list_items"],
  clients: ["business_cases", "contact_activity_logs"],
  business_cases: ["contact_activity_logs"],
  document_payments: ["invoices"],
  invoices: ["contact_activity_logs"],
};

const eventNames: Readonly<Record<ModelTable, readonly [event: string, resourceType: string] | null>> = {
  units: null,
  clients: ["clients", "client"],
  business_cases: ["business-cases", "businessCase"],
  price_list_items: ["price-list-items", "priceListItem"],
  invoices: ["invoices", "invoice"],
  document_payments: ["document-payments", "documentPayment"],
  contact_activity_logs: ["contact-activity-logs", "contactActivityLog"],
};

/** A company with its whole history: people change its state, and `publish` makes versions of what they changed. */
export class SimulatedCompany {
  readonly state: CompanyState;
  readonly log = new VersionLog();
  /** What lists show besides, and cannot become rows. */
  readonly malformed = new VersionLog();
  private readonly parts: CompanyParts;
  private readonly nextIds = new Map<string, number>();
  private readonly touched = new Set<TableName>();
  private readonly listeners: ((event: ServiceEvent) => void)[] = [];
  /** From when the last change shows. */
  private lastVisibleMs = -Infinity;
  private mode: "start" | "lagging" | "prompt" = "start";

  constructor(parts: CompanyParts, state: CompanyState) {
    this.parts = parts;
    this.state = state;
  }

  /** A number that no record of the table has had. */
  nextId(table: string): number {
    const id = (this.nextIds.get(table) ?? 0) + 1;
    this.nextIds.set(table, id);
    return id;
  }

  /** The records of these tables were changed: `publish` looks at them. */
  touch(...tables: readonly TableName[]): void {
    for (const table of tables) {
      if (this.touched.has(table)) continue;
      this.touched.add(table);
      this.touch(...(dependents[table] ?? []));
    }
  }

  /** Makes a version of each record that shows something else now. */
  publish(): void {
    if (this.mode === "start") return;
    const { clock, random, lagMs } = this.parts;
    const delayMs = this.mode === "lagging" ? random.next() * lagMs : 0;
    this.lastVisibleMs = Math.max(this.lastVisibleMs, clock.monotonicMs() + delayMs);
    this.publishTouched(this.lastVisibleMs);
  }

  /** Shows a record that cannot become a row; null: no more. */
  writeMalformed(table: TableName, id: number, text: string | null): void {
    const fromMs = Math.max(this.lastVisibleMs, this.parts.clock.monotonicMs());
    this.malformed.write(table, id, text === null ? null : { detail: text, listed: text, keys: {} }, fromMs);
  }

  /** What was changed until now was there at the start. */
  begin(): void {
    this.publishTouched(-Infinity);
    this.mode = this.parts.lag === "commit" ? "lagging" : "prompt";
  }

  /** From now on changes show at once. */
  stopLag(): void {
    this.mode = "prompt";
  }

  /** Sends an event about a record, under a name of the catalogue or another one. */
  emit(type: string, resourceType: string, id: number): void {
    const { random, clock } = this.parts;
    const occurredAt = new Date(clock.nowMs()).toISOString();
    const event = { id: `evt_${random.uuid()}`, type, occurredAt, resource: { type: resourceType, id } };
    for (const listener of this.listeners) listener(event);
  }

  /** Sends `created`, `updated` or `deleted`; nothing for a resource without events. */
  announce(table: ModelTable, id: number, change: string): void {
    const names = eventNames[table];
    if (names) this.emit(`${names[0]}.${change}`, names[1], id);
  }

  onEvent(listener: (event: ServiceEvent) => void): void {
    this.listeners.push(listener);
  }

  private publishTouched(fromMs: number): void {
    for (const table of this.touched) this.publishTable(table, fromMs);
    this.touched.clear();
  }

  private publishTable(table: TableName, fromMs: number): void {
    const { state, log } = this;
    const ids = table === "company" ? [1] : [...new Set([...log.ids(table), ...state[table].keys()])];
    for (const id of ids) log.write(table, id, views[table](state, id), fromMs);
  }
}
