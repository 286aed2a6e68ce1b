import type { Operation } from "../../../src/connector/operation.ts";
import { bankAccountOperations } from "./bank-accounts.ts";
import { lookupOperations, seriesOperations, subjectOperations, tokenOperations } from "./basics.ts";
import { clientOperations, supplierOperations } from "./contacts.ts";
import {
  attachmentOperations,
  businessCaseOperations,
  businessCaseStatusOperations,
  contactActivityLogOperations,
} from "./crm.ts";
import {
  creditNoteOperations,
  invoiceOperations,
  orderOperations,
  proformaOperations,
  quotationOperations,
} from "./documents.ts";
import { documentMailOperations, documentPaymentOperations } from "./payments.ts";
import {
  inboundReceiptOperations,
  outboundReceiptOperations,
  priceListItemOperations,
  warehouseOperations,
} from "./warehouse.ts";
import { webhookSubscriptionOperations } from "./webhooks.ts";

/** Every operation the service offers, grouped as the client offers them. */
export const operationGroups = {
  token: tokenOperations,
  lookups: lookupOperations,
  numericalSeries: seriesOperations,
  subjects: subjectOperations,
  clients: clientOperations,
  suppliers: supplierOperations,
  bankAccounts: bankAccountOperations,
  businessCaseStatuses: businessCaseStatusOperations,
  businessCases: businessCaseOperations,
  contactActivityAttachments: attachmentOperations,
  contactActivityLogs: contactActivityLogOperations,
  warehouses: warehouseOperations,
  warehouseInboundReceipts: inboundReceiptOperations,
  warehouseOutboundReceipts: outboundReceiptOperations,
  priceListItems: priceListItemOperations,
  webhookSubscriptions: webhookSubscriptionOperations,
  invoices: invoiceOperations,
  creditNotes: creditNoteOperations,
  proformas: proformaOperations,
  orders: orderOperations,
  quotations: quotationOperations,
  documentPayments: documentPaymentOperations,
  documentMails: documentMailOperations,
} as const;

export const operations: readonly Operation[] = Object.values(operationGroups).flatMap((group) =>
  Object.values<Operation>(group),
);
