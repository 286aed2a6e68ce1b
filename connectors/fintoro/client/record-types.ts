import type { ListPage } from "../../../src/connector/client/page.ts";
import type { FintoroClient } from "./client.ts";

type AnswerOfMethod<M> = M extends (...args: never[]) => Promise<infer A> ? A : never;
type One<M> = AnswerOfMethod<M> extends ListPage<infer R> | readonly (infer R)[] ? R : AnswerOfMethod<M>;

type Lookups = FintoroClient["lookups"];
type RecordShown<K extends keyof FintoroClient> = FintoroClient[K] extends { show: infer M } ? One<M> : never;
type Listed<K extends keyof FintoroClient> = FintoroClient[K] extends { list: infer M } ? One<M> : never;

/** The service's records by name, for functions over the client's answers. */
export type Identity = One<FintoroClient["whoami"]>;
export type Bank = One<Lookups["banks"]>;
export type Country = One<Lookups["countries"]>;
export type Language = One<Lookups["languages"]>;
export type Currency = One<Lookups["currencies"]>;
export type Unit = One<Lookups["units"]>;
export type NumericalSeries = RecordShown<"numericalSeries">;
export type Subject = RecordShown<"subjects">;
export type Client = RecordShown<"clients">;
export type Supplier = RecordShown<"suppliers">;
export type BankAccount = RecordShown<"bankAccounts">;
export type BusinessCaseStatus = RecordShown<"businessCaseStatuses">;
export type BusinessCase = RecordShown<"businessCases">;
export type ContactActivityLog = RecordShown<"contactActivityLogs">;
export type AttachmentUpload = One<FintoroClient["contactActivityAttachments"]["upload"]>;
export type Warehouse = RecordShown<"warehouses">;
export type WarehouseInboundReceipt = RecordShown<"warehouseInboundReceipts">;
export type WarehouseOutboundReceipt = RecordShown<"warehouseOutboundReceipts">;
export type PriceListItem = RecordShown<"priceListItems">;
export type InvoicePreview = Listed<"invoices">;
export type Invoice = RecordShown<"invoices">;
export type CreditNotePreview = Listed<"creditNotes">;
export type CreditNote = RecordShown<"creditNotes">;
export type ProformaPreview = Listed<"proformas">;
export type Proforma = RecordShown<"proformas">;
export type OrderPreview = Listed<"orders">;
export type Order = RecordShown<"orders">;
export type QuotationPreview = Listed<"quotations">;
export type Quotation = RecordShown<"quotations">;
export type DocumentPayment = RecordShown<"documentPayments">;
export type WebhookSubscription = RecordShown<"webhookSubscriptions">;
export type WebhookSubscriptionWithSecret = One<FintoroClient["webhookSubscriptions"]["create"]>;
