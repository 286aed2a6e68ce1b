import type { z } from "zod";
import type { subject } from "../operations/account-operations.ts";
import type { attachmentUpload } from "../operations/crm-operations.ts";
import type { bankAccount } from "../resources/bank-accounts.ts";
import type { businessCase, businessCaseStatus } from "../resources/business-cases.ts";
import type { client } from "../resources/clients.ts";
import type { identity } from "../resources/company.ts";
import type { contactActivityLog } from "../resources/contact-activity-logs.ts";
import type { creditNote, creditNotePreview } from "../resources/documents/credit-notes.ts";
import type { documentPayment } from "../resources/documents/document-payments.ts";
import type { invoicePreview } from "../resources/documents/invoice-preview.ts";
import type { invoice } from "../resources/documents/invoices.ts";
import type { bank, country, currency, language, unit } from "../resources/lookups.ts";
import type { series } from "../resources/numerical-series.ts";
import type { order, orderPreview } from "../resources/documents/orders.ts";
import type { priceListItem } from "../resources/price-list-items.ts";
import type { proforma, proformaPreview } from "../resources/documents/proformas.ts";
import type { quotation, quotationPreview } from "../resources/documents/quotations.ts";
import type { supplier } from "../resources/suppliers.ts";
import type { inboundReceipt, outboundReceipt } from "../resources/warehouse-receipts.ts";
import type { warehouse } from "../resources/warehouses.ts";
import type {
  webhookSubscription,
  webhookSubscriptionWithSecret,
} from "../resources/webhook-subscriptions.ts";

/** The service's records by name, for functions over the client's answers. */
export type Identity = z.output<typeof identity>;
export type Bank = z.output<typeof bank>;
export type Country = z.output<typeof country>;
export type Language = z.output<typeof language>;
export type Currency = z.output<typeof currency>;
export type Unit = z.output<typeof unit>;
export type NumericalSeries = z.output<typeof series>;
export type Subject = z.output<typeof subject>;
export type Client = z.output<typeof client>;
export type Supplier = z.output<typeof supplier>;
export type BankAccount = z.output<typeof bankAccount>;
export type BusinessCaseStatus = z.output<typeof businessCaseStatus>;
export type BusinessCase = z.output<typeof businessCase>;
export type ContactActivityLog = z.output<typeof contactActivityLog>;
export type AttachmentUpload = z.output<typeof attachmentUpload>;
export type Warehouse = z.output<typeof warehouse>;
export type WarehouseInboundReceipt = z.output<typeof inboundReceipt>;
export type WarehouseOutboundReceipt = z.output<typeof outboundReceipt>;
export type PriceListItem = z.output<typeof priceListItem>;
export type InvoicePreview = z.output<typeof invoicePreview>;
export type Invoice = z.output<typeof invoice>;
export type CreditNotePreview = z.output<typeof creditNotePreview>;
export type CreditNote = z.output<typeof creditNote>;
export type ProformaPreview = z.output<typeof proformaPreview>;
export type Proforma = z.output<typeof proforma>;
export type OrderPreview = z.output<typeof orderPreview>;
export type Order = z.output<typeof order>;
export type QuotationPreview = z.output<typeof quotationPreview>;
export type Quotation = z.output<typeof quotation>;
export type DocumentPayment = z.output<typeof documentPayment>;
export type WebhookSubscription = z.output<typeof webhookSubscription>;
export type WebhookSubscriptionWithSecret = z.output<typeof webhookSubscriptionWithSecret>;
