import type { Manifest } from "../../src/connector/connector-manifest.ts";
import type { Operation } from "../../src/connector/operation.ts";
import type { Resource } from "../../src/connector/resource.ts";
import { events, invalidationRules } from "./event-rules.ts";
import { knownFintoro } from "./known.ts";
import { operationGroups } from "./operations/groups.ts";
import { questions } from "./report/questions.ts";
import { accountantMonth } from "./package/accountant-month.ts";
import { views } from "./report/views.ts";
import { bankAccounts } from "./resources/bank-accounts.ts";
import { businessCases, businessCaseStatuses } from "./resources/business-cases.ts";
import { clients } from "./resources/clients.ts";
import { company } from "./resources/company.ts";
import { contactActivityLogs } from "./resources/contact-activity-logs.ts";
import { creditNotes } from "./resources/documents/credit-notes.ts";
import { documentPayments } from "./resources/documents/document-payments.ts";
import { invoices } from "./resources/documents/invoices.ts";
import { lookups } from "./resources/lookups.ts";
import { numericalSeries } from "./resources/numerical-series.ts";
import { orders } from "./resources/documents/orders.ts";
import { priceListItems } from "./resources/price-list-items.ts";
import { proformas } from "./resources/documents/proformas.ts";
import { quotations } from "./resources/documents/quotations.ts";
import { suppliers } from "./resources/suppliers.ts";
import { warehouseInboundReceipts, warehouseOutboundReceipts } from "./resources/warehouse-receipts.ts";
import { warehouses } from "./resources/warehouses.ts";
import { webhookSubscriptions } from "./resources/webhook-subscriptions.ts";
import { slovak } from "./translations/slovak.ts";

const { rotateSecret, ...subscriptions } = operationGroups.webhookSubscriptions;
const documents: readonly Resource[] = [invoices, creditNotes, proformas, orders, quotations];
const receipts: readonly Resource[] = [warehouseInboundReceipts, warehouseOutboundReceipts];

/** The Fintoro public API, version 1. */
export const manifest: Manifest = Object.freeze({
  name: knownFintoro.name,
  title: "Fintoro",
  baseUrl: knownFintoro.baseUrl,
  limits: { requests: 120, windowMs: 60_000 },
  languages: knownFintoro.languages,
  resources: [
    company,
    ...lookups,
    numericalSeries,
    clients,
    suppliers,
    bankAccounts,
    businessCaseStatuses,
    warehouses,
    webhookSubscriptions,
    businessCases,
    priceListItems,
    ...receipts,
    ...documents,
    documentPayments,
    contactActivityLogs,
  ],
  events,
  cascades: [
    { resource: "business_case_statuses", dependent: "business_cases", column: "status_id" },
    { resource: "clients", dependent: "business_cases", column: "client_id" },
    { resource: "suppliers", dependent: "business_cases", column: "supplier_id" },
    { resource: "clients", dependent: "warehouse_outbound_receipts", column: "client_id" },
    { resource: "suppliers", dependent: "warehouse_inbound_receipts", column: "supplier_id" },
    { resource: "invoices", dependent: "document_payments", column: "receipt_invoice_id" },
  ],
  invalidationRules,
  identity: {
    resource: "company",
    nameField: "name",
    businessIdColumn: "company_subject_id",
    businessIdIn: [...documents, ...receipts].map((one) => one.name),
    proofs: [
      { field: "uuid", resources: [...documents, ...receipts].map((one) => one.name) },
      { field: "name", resources: [clients.name] },
    ],
  },
  operations: Object.values(operationGroups).flatMap((group) => Object.values<Operation>(group)),
  lastKnown: {
    number: ["number", "metadata_document_number_snapshot"],
    name: ["name", "client_name", "supplier_name"],
    total: ["total", "amount", "metadata_document_price_snapshot"],
    currency: ["currency_id.symbol", "metadata_document_currency_snapshot_id.symbol"],
    date: ["issue_date", "payment_date"],
  },
  views,
  translations: { sk: slovak },
  monthPackage: accountantMonth,
  questions,
  webhooks: {
    subscriptions: { ...subscriptions, rotate: rotateSecret },
    subscriptionsResource: "webhook_subscriptions",
  },
});
