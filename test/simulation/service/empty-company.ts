import type { CompanyState } from "./record-models.ts";
import type { ServiceOptions } from "./service-types.ts";

/** What a service is like unless its options say otherwise. */
export const usualService = {
  size: 6,
  limit: 120,
  windowMs: 60_000,
  othersPerSecond: 0,
  lag: "none",
  lagMs: 5_000,
  mostPerPage: 500,
  refusesSort: false,
  shufflesTies: false,
  deletion: "hard",
  refusal: 422,
  amountsAsText: false,
  reordersKeys: false,
  stuckPages: 0,
  silentShare: 0,
  name: "Acme",
  key: "a",
} as const;

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
    hasLongNumbers: false,
    clients: new Map(),
    units: new Map(),
    price_list_items: new Map(),
    invoices: new Map(),
    document_payments: new Map(),
    business_cases: new Map(),
    contact_activity_logs: new Map(),
  };
}
