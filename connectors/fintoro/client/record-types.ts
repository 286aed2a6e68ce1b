import type { Page } from "../../../src/connector/client/page.ts";
import type { FintoroClient } from "./client.ts";

type Answer<M> = M extends (...args: never[]) => Promise<infer A> ? A : never;
type One<M> = Answer<M> extends Page<infer R> | readonly (infer R)[] ? R : Answer<M>;

type Lookups = FintoroClient["lookups"];
type Shown<K extends keyof FintoroClient> = FintoroClient[K] extends { show: infer M } ? One<M> : never;
type Listed<K extends keyof FintoroClient> = FintoroClient[K] extends { list: infer M } ? One<M> : never;

/** The service's records by name, for functions over the client's answers. */
export type Identity = One<FintoroClient["whoami"]>;
export type Bank = One<Lookups["banks"]>;
export type Country = One<Lookups["countries"]>;
export type Language = One<Lookups["languages"]>;
export type Currency = One<Lookups["currencies"]>;
export type Unit = One<Lookups["units"]>;
export type NumericalSeries = Shown<"numericalSeries">;
export type Subject = Shown<"subjects">;
export type Client = Shown<"clients">;
export type Supplier = Shown<"suppliers">;
export type BankAccount = Shown<"bankAccounts">;
export type BusinessCaseStatus = Shown<"businessCaseStatuses">;
export type BusinessCase = Shown<"businessCases">;
export type ContactActivityLog = Shown<"contactActivityLogs">;
export type AttachmentUpload = One<FintoroClient["contactActivityAttachments"]["upload"]>;
export type Warehouse = Shown<"warehouses">;
export type WarehouseInboundReceipt = Shown<"warehouseInboundReceipts">;
export type WarehouseOutboundReceipt = Shown<"warehouseOutboundReceipts">;
export type PriceListItem = Shown<"priceListItems">;
export type InvoicePreview = Listed<"invoices">;
export type Invoice = Shown<"invoices">;
export type CreditNotePreview = Listed<"creditNotes">;
export type CreditNote = Shown<"creditNotes">;
export type ProformaPreview = Listed<"proformas">;
export type Proforma = Shown<"proformas">;
export type OrderPreview = Listed<"orders">;
export type Order = Shown<"orders">;
export type QuotationPreview = Listed<"quotations">;
export type Quotation = Shown<"quotations">;
export type DocumentPayment = Shown<"documentPayments">;
export type WebhookSubscription = Shown<"webhookSubscriptions">;
export type WebhookSubscriptionWithSecret = One<FintoroClient["webhookSubscriptions"]["create"]>;
