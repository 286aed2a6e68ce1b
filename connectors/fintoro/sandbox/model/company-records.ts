import type { ClientSnapshot, Stamped } from "./contact-records.ts";

/**
 * The records as the sandbox keeps them: lookup values by id, money as the number that was sent,
 * moments as epoch milliseconds. How a record looks in an answer is decided in `view`.
 */

/** A bank account; `openBanking` is what the bank last reported of it. */
export interface BankAccount extends Stamped {
  readonly id: number;
  readonly bankId: number | null;
  readonly isPrimary: boolean;
  readonly name: string;
  readonly iban: string;
  readonly swift: string;
  readonly autoPairingStrategy: string;
  readonly openBanking: {
    readonly balance: number;
    readonly syncedAtMs: number;
    readonly until: string;
  } | null;
}

export interface CaseStatus {
  readonly id: number;
  readonly name: string;
  readonly color: string;
}

/** A business case with one client or supplier. */
export interface BusinessCase extends Stamped {
  readonly id: number;
  readonly contactType: "client" | "supplier";
  readonly contactId: number;
  readonly name: string;
  readonly description: string | null;
  readonly statusId: number | null;
  readonly boardPosition: number;
}

/** A file at a CRM event. */
export interface Attachment {
  readonly id: number;
  readonly name: string;
  readonly mimeType: string;
  readonly content: Buffer;
}

/** An uploaded file, also while no CRM event has it yet. */
export type Upload = Omit<Attachment, "id">;

/** A CRM event. Its type decides which metadata it has. */
export interface ActivityLog extends Stamped {
  readonly id: number;
  readonly type: string;
  readonly target: ActivityTarget;
  readonly metadata: ActivityMetadata;
  readonly attachments: readonly Attachment[];
}

/** What a CRM event belongs to. */
export interface ActivityTarget {
  readonly kind: "businessCase" | "client" | "supplier";
  readonly id: number;
}

/** The metadata of all types of CRM events together. */
export interface ActivityMetadata extends Readonly<
  Partial<Record<"content" | "email" | "personName" | "phoneNumber", string | null>>
> {
  readonly documentKind?: DocumentKind;
  readonly documentId?: number;
  readonly numberSnapshot?: string;
  readonly priceSnapshot?: number;
  readonly currencySnapshotId?: number;
  readonly paidAmount?: number;
}

export type DocumentKind = "invoice" | "credit-note" | "proforma" | "order" | "quotation";

/** What documents show of the company itself, as it stands in an answer. */
export interface CompanySnapshot {
  readonly name: string;
  readonly subjectId: string;
  readonly [field: string]: string | number | null;
}

/** A discount on a line or on a whole document. */
export interface Discount {
  readonly discountType: "percentage" | "fixed" | null;
  readonly discountValue: number | null;
}

/** A line of a document. */
export interface Item extends Discount {
  readonly id: number;
  readonly uuid: string;
  readonly name: string;
  readonly description: string | null;
  readonly unitPrice: number;
  readonly unitId: number;
  readonly quantity: number;
  readonly vatRate: number;
  readonly discountName: string | null;
  readonly priceListItemId: number | null;
  readonly allocations: readonly { readonly warehouseId: number; readonly quantity: number }[];
}

type Dates = "dueDate" | "deliveryDate" | "validityDate";
type Texts = "note" | "textAboveItems";
type Symbols = "variableSymbol" | "constantSymbol" | "specificSymbol";
type Sources = "invoiceId" | "proformaId" | "orderId" | "quotationId";
type Links = "bankAccountId" | "businessCaseId" | "numericalSeriesId";
type Choices = "deliveryMethodId" | "paymentMethodId" | "currencyId" | "languageId" | "qrTypeId";

/** A document of any kind; a field that its kind does not have is null or a default. */
export interface Document
  extends
    Readonly<Record<Dates | Texts, string | null>>,
    Readonly<Record<Symbols | Sources | Links, number | null>>,
    Readonly<Record<Choices, number>>,
    Discount {
  readonly kind: DocumentKind;
  readonly id: number;
  readonly uuid: string;
  readonly type: string;
  readonly number: string;
  readonly company: CompanySnapshot;
  readonly clientId: number;
  readonly client: ClientSnapshot;
  readonly issueDate: string;
  readonly transferTaxLiability: boolean;
  readonly currencyRate: number;
  readonly willBePaid: boolean;
  readonly answer: "waiting" | "accepted" | "rejected";
  readonly items: readonly Item[];
}

/** A payment of one document. */
export interface Payment {
  readonly id: number;
  readonly documentKind: DocumentKind;
  readonly documentId: number;
  readonly paymentMethodId: number;
  readonly currencyId: number;
  readonly currencyRate: number;
  readonly paymentDate: string;
  readonly amountCents: bigint;
  readonly receiptInvoiceId: number | null;
}

/** A number series of one kind of document. */
export interface Series {
  readonly id: number;
  readonly documentKind: DocumentKind;
  readonly name: string;
  readonly pattern: string;
  readonly nextNumber: number;
  readonly isDefault: boolean;
}

/** A webhook subscription. */
export interface Subscription extends Stamped {
  readonly id: number;
  readonly name: string | null;
  readonly url: string;
  readonly isActive: boolean;
  readonly subscribedEvents: readonly string[];
  readonly secret: string;
  readonly lastSuccessAtMs: number | null;
  readonly lastFailureAtMs: number | null;
}

/** A mail with a document that was asked for; the sandbox sends none. */
export interface SentMail {
  readonly documentType: DocumentKind;
  readonly documentId: number;
  readonly to: readonly string[];
}
