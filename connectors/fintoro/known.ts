const recordLists =
  `company banks countries languages currencies delivery_methods payment_methods qr_types units
  numerical_series clients suppliers bank_accounts business_case_statuses warehouses webhook_subscriptions
  business_cases price_list_items warehouse_inbound_receipts warehouse_outbound_receipts invoices credit_notes
  proformas orders quotations document_payments`.split(/\s+/);

/** Their records have PDFs or attachments. */
const withFiles = new Set(
  `warehouse_inbound_receipts warehouse_outbound_receipts invoices credit_notes proformas orders quotations
  contact_activity_logs`.split(/\s+/),
);

/**
 * What a config is checked against, without loading the resources themselves: a refused config answers at
 * once. A test holds the names equal to the connector's.
 */
export const knownFintoro = {
  name: "fintoro",
  baseUrl: "https://app.fintoro.sk/api/public/v1",
  languages: "sk en de es hu et fr cs hr it lt nl pl pt ro sr ru sl uk".split(" "),
  resources: [
    ...recordLists.map((name) => ({ name, list: { kind: "records" } })),
    { name: "contact_activity_logs", list: { kind: "parents" } },
  ].map((one) => ({ ...one, ...(withFiles.has(one.name) && { files: true }) })),
};
