import { z } from "zod";
import { everyKey } from "../base/values.ts";
import { choice, email, id, number, symbol, text, type Filled } from "../rules/request-shape.ts";

/**
 * The records as the sandbox keeps them: lookup values by id, money as the number that was sent, moments as
 * epoch milliseconds. A shape is what a request sends, and declares the record's fields with it. How a record
 * looks in an answer is decided by its view.
 */
type Fields<T extends z.ZodType> = Readonly<Filled<z.output<T>>>;
type Each<K extends string, T> = Readonly<Record<K, T>>;
type Identified = Each<"id", number>;

/** When a record was made and last changed, epoch ms. */
export type Stamped = Each<"createdAtMs" | "updatedAtMs", number>;

/** A person or company, as clients and suppliers have it and as documents keep a copy of it. */
export const partyShape = z.object({
  name: text().min(1),
  type: z.enum(["person", "company"]).optional(),
  ...everyKey(["subjectId", "taxId", "vatId"], text(40).nullish()),
  isVatPayer: z.boolean().optional(),
  email: email().nullish(),
  ...everyKey(["street", "city"], text().nullish()),
  zip: text(10).nullish(),
  countryId: choice("countries").nullish(),
});

/** Where a client's goods go, if not to its own address. */
export const deliveryShape = z.object({
  hasDeliveryAddress: z.boolean().optional(),
  ...everyKey(["deliveryStreet", "deliveryCity"], text().nullish()),
  deliveryZip: text(10).nullish(),
  deliveryCountryId: choice("countries").nullish(),
});

/** What a client's documents have where a request leaves it out. */
export const preferenceShape = z.object({
  preferredDeliveryMethodId: choice("delivery-methods").nullish(),
  preferredPaymentMethodId: choice("payment-methods").nullish(),
  preferredCurrencyId: choice("currencies").nullish(),
  preferredLanguageId: choice("languages").nullish(),
  preferredDueDays: z.int().min(0).max(365).nullish(),
  ...everyKey(["preferredNote", "preferredTextAboveItems"], text(3000).nullish()),
  ...everyKey(["preferredVariableSymbol", "preferredSpecificSymbol"], symbol(10).nullish()),
  preferredConstantSymbol: symbol(4).nullish(),
});

export type Party = Fields<typeof partyShape> &
  Each<"type", "person" | "company"> &
  Each<"isVatPayer", boolean>;
/** The copy of a client that a document keeps. */
export type ClientSnapshot = Party & Fields<typeof deliveryShape> & Each<"hasDeliveryAddress", boolean>;
export type Supplier = Identified & Party & Stamped;
export type Client = Identified & ClientSnapshot & Fields<typeof preferenceShape> & Stamped;

/** A bank account; `openBanking` is what the bank last reported of it. */
export type BankAccount = Identified &
  Stamped &
  Each<"name" | "iban" | "swift" | "autoPairingStrategy", string> & {
    readonly bankId: number | null;
    readonly isPrimary: boolean;
    readonly openBanking: (Each<"balance" | "syncedAtMs", number> & Each<"until", string>) | null;
  };

/** A webhook subscription. */
export type Subscription = Identified &
  Stamped &
  Each<"url" | "secret", string> &
  Each<"lastSuccessAtMs" | "lastFailureAtMs", number | null> & {
    readonly name: string | null;
    readonly isActive: boolean;
    readonly subscribedEvents: readonly string[];
  };

export type CaseStatus = Identified & Each<"name" | "color", string>;

/** A business case with one client or supplier. */
export type BusinessCase = Identified &
  Stamped &
  Each<"contactId" | "boardPosition", number> & {
    readonly contactType: "client" | "supplier";
    readonly name: string;
    readonly description: string | null;
    readonly statusId: number | null;
  };

/** An uploaded file, and a file at a CRM event. */
export type Upload = Each<"name" | "mimeType", string> & { readonly content: Buffer };
export type Attachment = Identified & Upload;

/** A CRM event. Its type decides which metadata it has. */
export type ActivityLog = Identified &
  Stamped & {
    readonly type: string;
    readonly target: ActivityTarget;
    readonly metadata: ActivityMetadata;
    readonly attachments: readonly Attachment[];
  };

/** What a CRM event belongs to. */
export type ActivityTarget = Identified & { readonly kind: "businessCase" | "client" | "supplier" };

/** The metadata of all types of CRM events together. */
export type ActivityMetadata = Partial<
  Each<"content" | "email" | "personName" | "phoneNumber", string | null> &
    Each<"documentId" | "priceSnapshot" | "currencySnapshotId" | "paidAmount", number> &
    Each<"numberSnapshot", string> &
    Each<"documentKind", DocumentKind>
>;

export type DocumentKind = "invoice" | "credit-note" | "proforma" | "order" | "quotation";

/** What documents show of the company itself, as it stands in an answer. */
export interface CompanySnapshot {
  readonly name: string;
  readonly [field: string]: string | number | null;
}

/** A discount on a line or on a whole document. */
export interface Discount {
  readonly discountType: "percentage" | "fixed" | null;
  readonly discountValue: number | null;
}

/** A line of a document. */
export type Item = Identified &
  Discount &
  Each<"uuid" | "name", string> &
  Each<"description" | "discountName", string | null> &
  Each<"unitPrice" | "unitId" | "quantity" | "vatRate", number> & {
    readonly priceListItemId: number | null;
    readonly allocations: readonly Each<"warehouseId" | "quantity", number>[];
  };

type Texts = "dueDate" | "deliveryDate" | "validityDate" | "note" | "textAboveItems";
type Symbols = "variableSymbol" | "constantSymbol" | "specificSymbol";
type Sources = "invoiceId" | "proformaId" | "orderId" | "quotationId";
type Links = "bankAccountId" | "businessCaseId" | "numericalSeriesId";
type Choices = "deliveryMethodId" | "paymentMethodId" | "currencyId" | "languageId" | "qrTypeId";

/** A document of any kind; a field that its kind does not have is null or a default. */
export interface Document
  extends
    Identified,
    Discount,
    Each<"uuid" | "type" | "number" | "issueDate", string>,
    Each<Texts, string | null>,
    Each<Symbols | Sources | Links, number | null>,
    Each<Choices | "clientId" | "currencyRate", number>,
    Each<"transferTaxLiability" | "willBePaid", boolean> {
  readonly kind: DocumentKind;
  readonly company: CompanySnapshot;
  readonly client: ClientSnapshot;
  readonly answer: "waiting" | "accepted" | "rejected";
  readonly items: readonly Item[];
}

export type Payment = Identified &
  Each<"documentId" | "paymentMethodId" | "currencyId" | "currencyRate", number> & {
    readonly documentKind: DocumentKind;
    readonly paymentDate: string;
    readonly amountCents: bigint;
    readonly receiptInvoiceId: number | null;
  };

/** A number series of one kind of document. */
export type Series = Identified &
  Each<"name" | "pattern", string> & {
    readonly documentKind: DocumentKind;
    readonly nextNumber: number;
    readonly isDefault: boolean;
  };

export const itemShape = z.object({
  name: text().min(1),
  description: text(1000).nullish(),
  unitPrice: number(),
  unitId: choice("units"),
  vatRate: number(0, 23),
  ean: text().nullish(),
  useWarehouse: z.boolean().default(false),
  warehouseCode: text().nullish(),
  enableNegativeStock: z.boolean().default(false),
  maxStock: number(0).nullish(),
  purchasePrice: number().nullish(),
  purchaseVatRate: number(0, 23).nullish(),
});
export type PriceListItem = Identified & Fields<typeof itemShape>;

export const warehouseShape = z.object({
  ...everyKey(["name", "code"], text().min(1)),
  ...everyKey(["inboundNumericalSeriesPattern", "outboundNumericalSeriesPattern"], text().min(1)),
  ...everyKey(["inboundNumericalSeriesNextNumber", "outboundNumericalSeriesNextNumber"], z.int().min(1)),
});
export type Warehouse = Identified & Fields<typeof warehouseShape>;

/** What a request sends of a line of a receipt. */
export const receiptLineShape = z.object({
  priceListItemId: id(),
  quantity: number(0.00001),
  unitPrice: number(),
  vatRate: number(0, 100),
});
export type LineInput = Readonly<z.output<typeof receiptLineShape>>;

/** A line of a receipt, with the item's name, code and unit of that time. */
export type ReceiptLine = Identified &
  LineInput & { readonly itemName: string; readonly itemCode: string | null; readonly unitId: number };

/** Goods coming in (partner: a supplier) or going out (partner: a client). */
export interface Receipt
  extends
    Identified,
    Stamped,
    Each<"uuid" | "number" | "issueDate", string>,
    Each<"warehouseId" | "languageId", number> {
  readonly company: CompanySnapshot;
  readonly partnerId: number | null;
  readonly partner: Party | ClientSnapshot | null;
  readonly note: string | null;
  readonly lines: readonly ReceiptLine[];
  /** The document whose warehouse allocations made it. */
  readonly madeBy: (Identified & { readonly kind: DocumentKind }) | null;
}
