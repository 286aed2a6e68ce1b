import { dayOf, firstDayOfYear, yearOf } from "../base/calendar.ts";
import { businessId } from "../base/identifiers.ts";
import type { Company, Tables } from "../domain/company-state.ts";
import { tableNames, type DocumentTable, type TableName } from "../model/catalogue.ts";
import type { CompanySnapshot, DocumentKind } from "../model/company-records.ts";
import type { Table } from "../model/record-table.ts";
import { companies, companyProfile } from "./sample-words.ts";

/** How many records of each kind to make. */
export type Volumes = Readonly<
  Record<DocumentKind | Exclude<TableName, DocumentTable | "document_payments">, number>
>;

/** What the records of a company follow from: two equal plans give the same records. */
export interface Plan {
  readonly seed: number;
  /** 0 for the first company. */
  readonly index: number;
  /** Day number of the fixed "today". */
  readonly today: number;
  readonly firstDay: number;
  readonly volumes: Volumes;
  readonly firstIds: Readonly<Record<keyof Tables, number>>;
  readonly company: CompanySnapshot;
}

/** The plan, and the company whose tables it fills. */
export interface Seeding {
  readonly plan: Plan;
  readonly company: Company;
}

/** Adds `count` records to a table. */
export function fill<T extends { readonly id: number }>(
  table: Table<T>,
  count: number,
  make: (id: number, index: number) => T,
): void {
  for (let index = 0; index < count; index++) table.add((id) => make(id, index));
}

/** What a plan is made from. */
export interface PlanInput extends Pick<Plan, "seed" | "index"> {
  readonly today: string;
  /** Over all five kinds. */
  readonly documents: number;
  readonly publicOrigin: string;
}

/** The plan of a company: its documents are from two whole years and the running one. */
export function planOf(input: PlanInput): Plan {
  const today = dayOf(input.today);
  return {
    seed: (input.seed + input.index * 7919) >>> 0,
    index: input.index,
    today,
    firstDay: firstDayOfYear(yearOf(today) - 2),
    volumes: volumesOf(input.documents),
    firstIds: firstIdsOf(input.index),
    company: companyOf(input.index, input.publicOrigin),
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

/** Apart from each other, so that an id of one company or collection is rarely one of another. */
function firstIdsOf(index: number): Plan["firstIds"] {
  const names = [...tableNames, "numerical_series"] as const;
  return Object.fromEntries(
    names.map((name, i) => [name, index * 10_000_000 + 101 + i * 37]),
  ) as Plan["firstIds"];
}

function companyOf(index: number, origin: string): CompanySnapshot {
  const [name, digits] = companies[index % companies.length]!;
  const id = businessId(digits.slice(0, 7));
  const taxId = String(2_020_100_000 - (2_020_100_000 % 11) + index * 11);
  return {
    name: index < companies.length ? name : `${name} ${index + 1}`,
    subjectId: index < companies.length ? id : businessId(String(4_000_000 + index)),
    legalForm: /a\. ?s\./.test(name) ? "Akciová spoločnosť" : "Spoločnosť s ručením obmedzeným",
    taxId,
    vatId: `SK${taxId}`,
    street: `Mlynské nivy ${16 + index}`,
    logo: `${origin}/media/logo-${index + 1}.svg`,
    ...companyProfile,
    registrationNumber: `${12_345 + index}/B`,
  };
}
