import { dayOf, firstDayOfYear, momentOf, yearOf } from "../base/calendar.ts";
import { businessId } from "../base/identifiers.ts";
import { randomFor } from "../base/seeded-random.ts";
import { type DocumentTable, type TableName } from "../model/catalogue.ts";
import { EventLog, type Company } from "../model/company-state.ts";
import type { CompanySnapshot, DocumentKind } from "../model/records.ts";
import { Actor } from "../samples/actor.ts";
import { companies, companyProfile } from "../samples/sample-words.ts";

/** How many records of each kind to make. */
export type Volumes = Readonly<
  Record<DocumentKind | Exclude<TableName, DocumentTable | "document_payments">, number>
>;

/** What the records of a company follow from: two equal plans give the same records. */
export interface Plan {
  readonly seed: number;
  /** Day number of the fixed "today". */
  readonly today: number;
  /** Documents are from two whole years and the running one. */
  readonly firstDay: number;
  readonly volumes: Volumes;
}

/** @param index of the company, 0 for the first one */
export function planOf(seed: number, index: number, date: string, documents: number): Plan {
  const today = dayOf(date);
  return {
    seed: (seed + index * 7919) >>> 0,
    today,
    firstDay: firstDayOfYear(yearOf(today) - 2),
    volumes: volumesOf(documents),
  };
}

/** Percentages. */
const shares = { invoice: 50, order: 15, quotation: 15, proforma: 14, "credit-note": 6 };

/** The number of records of each kind: documents as given, everything else in proportion. */
export function volumesOf(documents: number): Volumes {
  const some = (least: number, share: number, most = Number.MAX_SAFE_INTEGER) =>
    documents === 0 ? 0 : Math.min(most, Math.max(least, Math.ceil(documents * share)));
  return {
    ...documentVolumes(documents),
    clients: some(12, 0.5),
    suppliers: some(6, 0.05, 5_000),
    bank_accounts: some(4, 0, 4),
    business_case_statuses: some(6, 0, 6),
    business_cases: some(9, 1 / 15),
    contact_activity_logs: some(48, 1 / 3),
    warehouses: some(3, 0, 3),
    warehouse_inbound_receipts: some(8, 0.05),
    warehouse_outbound_receipts: some(8, 0.05),
    price_list_items: some(20, 0.05, 20_000),
    webhook_subscriptions: some(2, 0, 2),
  };
}

/** By the shares; what rounding leaves goes to the kinds in turn. */
function documentVolumes(documents: number): Record<DocumentKind, number> {
  const counts = Object.values(shares).map((share) => Math.floor((documents * share) / 100));
  const left = documents - counts.reduce((sum, count) => sum + count, 0);
  const volumes = Object.keys(shares).map((kind, i) => [kind, (counts[i] ?? 0) + (i < left ? 1 : 0)]);
  return Object.fromEntries(volumes) as Record<DocumentKind, number>;
}

/** What documents show of the company at an index. */
export function companySnapshot(index: number, origin: string): CompanySnapshot {
  const [name, digits] = companies[index % companies.length]!;
  const isNamed = index < companies.length;
  const taxId = String(2_020_100_000 - (2_020_100_000 % 11) + index * 11);
  return {
    name: isNamed ? name : `${name} ${index + 1}`,
    subjectId: businessId(isNamed ? digits.slice(0, 7) : String(4_000_000 + index)),
    legalForm: /a\. ?s\./.test(name) ? "Akciová spoločnosť" : "Spoločnosť s ručením obmedzeným",
    taxId,
    vatId: `SK${taxId}`,
    street: `Mlynské nivy ${16 + index}`,
    logo: `${origin}/media/logo-${index + 1}.svg`,
    ...companyProfile,
    registrationNumber: `${12_345 + index}/B`,
  };
}

class UnheardEvents extends EventLog {
  override append(): void {}
}

/** A company while its past is made up: each record at its own moment, with its own random numbers, unheard. */
export class Past {
  readonly plan: Plan;
  readonly company: Company;
  readonly #events: EventLog;

  constructor(plan: Plan, company: Company) {
    this.plan = plan;
    this.company = company;
    this.#events = new UnheardEvents(company.random, company.nowMs);
  }

  /** Who makes the record at an index of a topic, on a day. */
  actor(topic: string, index: number, day: number): Actor {
    const random = randomFor(this.plan.seed, topic, index);
    const momentMs = momentOf(day, random.int(420, 1100)) + random.int(0, 59) * 1000;
    const nowMs = () => momentMs;
    return new Actor({ ...this.company, random, nowMs, events: this.#events }, random);
  }

  /** The day of the record at an index, where `count` are spread evenly up to `lastDay`. */
  dayOf(index: number, count: number, lastDay: number): number {
    const { firstDay } = this.plan;
    return firstDay + Math.floor(((index + 1) / count) * (lastDay - firstDay));
  }
}
