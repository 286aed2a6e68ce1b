import { firstDayOfYear, momentOf, yearOf } from "../base/calendar.ts";
import { randomFor } from "../base/seeded-random.ts";
import type { TableName } from "../model/catalogue.ts";
import type { Company } from "../model/company.ts";
import type { DocumentKind } from "../model/rows.ts";
import { Actor } from "./record-inputs.ts";

const shares = { invoice: 50, order: 15, quotation: 15, proforma: 14, "credit-note": 6 };

/** The number of records of each kind: documents as given, everything else in proportion. */
function volumesOf(documents: number) {
  const some = (least: number, share: number, most = Number.MAX_SAFE_INTEGER) =>
    documents === 0 ? 0 : Math.min(most, Math.max(least, Math.ceil(documents * share)));
  // What rounding leaves goes to the kinds in turn.
  const counts = Object.values(shares).map((share) => Math.floor((documents * share) / 100));
  const left = documents - counts.reduce((sum, count) => sum + count, 0);
  const kinds = Object.keys(shares).map((kind, i) => [kind, (counts[i] ?? 0) + (i < left ? 1 : 0)]);
  return {
    ...(Object.fromEntries(kinds) as Record<DocumentKind, number>),
    clients: some(12, 0.5),
    suppliers: some(6, 0.05, 5_000),
    bank_accounts: some(4, 0, 4),
    business_case_statuses: some(6, 0, 6),
    business_cases: some(9, 1 / 15),
    contact_activity_logs: some(48, 1 / 3),
    warehouses: some(3, 0, 3),
    warehouse_inbound_receipts: some(8, 0.05),
    price_list_items: some(20, 0.05, 20_000),
    webhook_subscriptions: some(2, 0, 2),
  } satisfies Partial<Record<DocumentKind | TableName, number>>;
}

/** A company while its past is made up: each record at its own moment, with its own random numbers, unheard. */
export function pastOf(company: Company, seed: number, documents: number) {
  const { today } = company;
  /** Documents are from two whole years and the running one. */
  const firstDay = firstDayOfYear(yearOf(today) - 2);
  const events = { ...company.events, append: () => undefined };
  return {
    company,
    seed,
    today,
    firstDay,
    volumes: volumesOf(documents),
    /** Who makes the record at an index of a topic, on a day. */
    actor: (topic: string, index: number, day: number) => {
      const random = randomFor(seed, topic, index);
      const momentMs = momentOf(day, random.int(420, 1100)) + random.int(0, 59) * 1000;
      return new Actor({ ...company, random, nowMs: () => momentMs, events }, random);
    },
    /** The day of the record at an index, where `count` are spread evenly up to `lastDay`. */
    dayOf: (index: number, count: number, lastDay: number) =>
      firstDay + Math.floor(((index + 1) / count) * (lastDay - firstDay)),
  };
}
export type Past = ReturnType<typeof pastOf>;
