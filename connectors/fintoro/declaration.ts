import type { ConnectorDeclaration } from "../../src/connector/connector-declaration.ts";
import type { Operation } from "../../src/connector/operation.ts";
import { events, invalidationRules } from "./event-rules.ts";
import { knownFintoro } from "./known.ts";
import { operationGroups } from "./operations/document-operations.ts";
import { questions } from "./report/questions.ts";
import { accountantMonth } from "./accountant-month.ts";
import { bookkeepingViews } from "./report/bookkeeping.ts";
import { documentListViews } from "./report/document-lists.ts";
import { einvoiceGaps } from "./report/einvoice-gaps.ts";
import { pipelineViews } from "./report/pipeline.ts";
import { receivableViews } from "./report/receivables.ts";
import { salesViews } from "./report/sales.ts";
import { stockViews } from "./report/stock-views.ts";
import { clients, suppliers } from "./resources/clients-and-suppliers.ts";
import * as own from "./resources/company-settings.ts";
import { businessCases, businessCaseStatuses, contactActivityLogs } from "./resources/crm.ts";
import * as goods from "./resources/goods.ts";
import { documentPayments, documents } from "./resources/issued-documents.ts";
import { lookups } from "./resources/lookups.ts";
import slovak from "./slovak.json" with { type: "json" };

const { rotateSecret, ...subscriptions } = operationGroups.webhookSubscriptions;
const ofOneCompany = [...documents, ...goods.warehouseReceipts].map((one) => one.name);

export const declaration: ConnectorDeclaration = Object.freeze({
  ...knownFintoro,
  title: "Fintoro",
  limits: { requests: 120, windowMs: 60_000 },
  resources: [
    own.company,
    ...lookups,
    own.numericalSeries,
    clients,
    suppliers,
    own.bankAccounts,
    businessCaseStatuses,
    goods.warehouses,
    own.webhookSubscriptions,
    businessCases,
    goods.priceListItems,
    ...goods.warehouseReceipts,
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
    businessIdIn: ofOneCompany,
    proofs: [
      { field: "uuid", resources: ofOneCompany },
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
  // What people ask first, and what their accountants ask next.
  views: [
    ...receivableViews,
    ...documentListViews,
    ...salesViews,
    ...bookkeepingViews,
    ...stockViews,
    ...pipelineViews,
    einvoiceGaps,
  ],
  translations: { sk: slovak },
  monthPackage: accountantMonth,
  questions,
  webhooks: {
    subscriptions: { ...subscriptions, rotate: rotateSecret },
    subscriptionsResource: "webhook_subscriptions",
  },
});
