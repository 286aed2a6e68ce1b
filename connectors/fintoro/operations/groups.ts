/** All operations of the service, grouped and named as in the client. */
export {
  bankAccountOperations as bankAccounts,
  lookupOperations as lookups,
  seriesOperations as numericalSeries,
  subjectOperations as subjects,
  tokenOperations as token,
} from "./account-operations.ts";
export { clientOperations as clients, supplierOperations as suppliers } from "./contacts.ts";
export {
  attachmentOperations as contactActivityAttachments,
  businessCaseOperations as businessCases,
  businessCaseStatusOperations as businessCaseStatuses,
  contactActivityLogOperations as contactActivityLogs,
} from "./crm-operations.ts";
export {
  creditNoteOperations as creditNotes,
  invoiceOperations as invoices,
  orderOperations as orders,
  proformaOperations as proformas,
  quotationOperations as quotations,
} from "./document-operations.ts";
export {
  documentMailOperations as documentMails,
  documentPaymentOperations as documentPayments,
} from "./payment-operations.ts";
export {
  inboundReceiptOperations as warehouseInboundReceipts,
  outboundReceiptOperations as warehouseOutboundReceipts,
  priceListItemOperations as priceListItems,
  warehouseOperations as warehouses,
} from "./warehouse.ts";
export { webhookSubscriptionOperations as webhookSubscriptions } from "./webhooks.ts";
