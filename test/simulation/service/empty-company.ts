import type { CompanyState } from "./record-models.ts";
import type { ServiceOptions } from "./service-types.ts";

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
