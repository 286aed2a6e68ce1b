import type { ServiceOptions } from "./service-types.ts";

/** Records as people change them; what the service shows of them follows in `record-views.ts`. */
interface ClientModel {
  readonly id: number;
  name: string;
  city: string | null;
  updatedAtMs: number;
}

interface UnitModel {
  readonly id: number;
  name: string;
}

interface PriceListItemModel {
  readonly id: number;
  name: string;
  unitId: number;
  priceCents: number;
  /** Quantities in the two warehouses; null: not kept there. */
  stocks: (number | null)[];
  ean: string | null;
}

export interface InvoiceModel {
  readonly id: number;
  readonly uuid: string;
  number: string;
  issueDate: string;
  clientId: number;
  clientName: string;
  note: string | null;
  lines: { readonly id: number; name: string; cents: number; priceListItemId: number | null }[];
}

export interface PaymentModel {
  readonly id: number;
  readonly invoiceId: number;
  readonly cents: number;
  readonly paymentDate: string;
}

interface BusinessCaseModel {
  readonly id: number;
  clientId: number;
  name: string;
  description: string | null;
  updatedAtMs: number;
}

export interface ActivityModel {
  readonly id: number;
  readonly parent: { readonly table: "clients" | "business_cases"; readonly id: number };
  content: string;
  /** The invoice that it shows as that is now; null: a note. */
  readonly invoiceId: number | null;
  attachments: { readonly id: number; readonly name: string }[];
  updatedAtMs: number;
}

/** A company as it is at the service now, deleted records not among it. */
export interface CompanyState {
  name: string;
  /** The business id on its documents. */
  readonly businessId: string;
  amountsAsText: boolean;
  /** Do lists of full records write their keys in another order? */
  readonly reordersKeys: boolean;
  /** Do invoices and clients show fields that no connector knows, one with a number of 19 digits? */
  hasUnknownField: boolean;
  readonly clients: Map<number, ClientModel>;
  readonly units: Map<number, UnitModel>;
  readonly price_list_items: Map<number, PriceListItemModel>;
  readonly invoices: Map<number, InvoiceModel>;
  readonly document_payments: Map<number, PaymentModel>;
  readonly business_cases: Map<number, BusinessCaseModel>;
  readonly contact_activity_logs: Map<number, ActivityModel>;
}

/** A record of one of its tables. */
export type RecordOf<T extends keyof CompanyState> = CompanyState[T] extends Map<number, infer R> ? R : never;

/** A company without records. */
export function emptyState({
  name,
  key,
  amountsAsText,
  reordersKeys,
}: Pick<Required<ServiceOptions>, "name" | "key" | "amountsAsText" | "reordersKeys">): CompanyState {
  return {
    name,
    businessId: `b-${key}`,
    amountsAsText,
    reordersKeys,
    hasUnknownField: false,
    clients: new Map(),
    units: new Map(),
    price_list_items: new Map(),
    invoices: new Map(),
    document_payments: new Map(),
    business_cases: new Map(),
    contact_activity_logs: new Map(),
  };
}
