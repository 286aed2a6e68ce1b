import { dayOf, firstDayOfYear, yearOf } from "../base/calendar.ts";
import { tableNames, type TableName } from "../model/catalogue.ts";
import type { CompanySnapshot, DocumentKind } from "../model/company-records.ts";
import { businessId } from "../base/identifiers.ts";
import { companies } from "./sample-words.ts";

export type Volumes = Readonly<Record<DocumentKind | Exclude<TableName, DocumentTables>, number>>;
type DocumentTables =
  "invoices" | "credit_notes" | "proformas" | "orders" | "quotations" | "document_payments";

/** What a company's seeds hang on: two plans alike tell the same records. */
export interface Plan {
  readonly seed: number;
  /** Day number of the fixed "today". */
  readonly today: number;
  readonly firstDay: number;
  readonly volumes: Volumes;
  readonly firstIds: Readonly<Record<TableName | "numerical_series", number>>;
  readonly company: CompanySnapshot;
  readonly publicOrigin: string;
}

export interface PlanInput {
  readonly seed: number;
  readonly today: string;
  readonly documents: number;
  /** 0 for the first company. */
  readonly index: number;
  readonly publicOrigin: string;
}

/** Two whole years and the running one. */
export function planOf(input: PlanInput): Plan {
  const today = dayOf(input.today);
  return {
    seed: (input.seed + input.index * 7919) >>> 0,
    today,
    firstDay: firstDayOfYear(yearOf(today) - 2),
    volumes: volumesOf(input.documents),
    firstIds: firstIdsOf(input.index),
    company: companyOf(input.index, input.publicOrigin),
    publicOrigin: input.publicOrigin,
  };
}

const shares: readonly (readonly [DocumentKind, number])[] = [
  ["invoice", 50],
  ["order", 15],
  ["quotation", 15],
  ["proforma", 14],
  ["credit-note", 6],
];

/** Documents by the given total; the rest in proportion. */
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

/** By the shares; what rounding leaves goes to the first kinds in turn. */
function documentVolumes(documents: number): Record<DocumentKind, number> {
  const counts = shares.map(([kind, share]) => ({ kind, count: Math.floor((documents * share) / 100) }));
  let left = documents - counts.reduce((sum, { count }) => sum + count, 0);
  for (let i = 0; left > 0; i = (i + 1) % counts.length, left--) (counts[i] as { count: number }).count++;
  return Object.fromEntries(counts.map(({ kind, count }) => [kind, count])) as Record<DocumentKind, number>;
}

/** Far apart, so that an id of one company or collection is rarely one of another. */
function firstIdsOf(index: number): Plan["firstIds"] {
  const names = [...tableNames, "numerical_series"] as const;
  return Object.fromEntries(
    names.map((name, i) => [name, index * 10_000_000 + 101 + i * 37]),
  ) as Plan["firstIds"];
}

function companyOf(index: number, origin: string): CompanySnapshot {
  const [name, digits] = companies[index % companies.length] ?? companies[0];
  const id = businessId(digits.slice(0, 7));
  const taxId = String(2_020_100_000 - (2_020_100_000 % 11) + index * 11);
  return {
    name: index < companies.length ? name : `${name} ${index + 1}`,
    subjectId: index < companies.length ? id : businessId(String(4_000_000 + index)),
    legalForm:
      name.includes("a. s.") || name.includes("a.s.")
        ? "Akciová spoločnosť"
        : "Spoločnosť s ručením obmedzeným",
    taxId,
    vatId: `SK${taxId}`,
    vatPayerTypeId: 4,
    country: "Slovensko",
    city: "Bratislava",
    street: `Mlynské nivy ${16 + index}`,
    zip: "821 09",
    logo: `${origin}/media/logo-${index + 1}.svg`,
    signature: null,
    registrationCourt: "Mestský súd Bratislava III",
    registrationNumber: `${12_345 + index}/B`,
    email: "fakturacia@example.com",
    phone: "+421 2 1234 5678",
    web: "https://www.example.com",
  };
}
