import { z } from "zod";
import { nullable, optional, type Filled } from "../rules/request-shape.ts";

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

const id = z.int();
const text = z.string();

/** A person or company, as clients and suppliers have it and as documents keep a copy of it. */
export const partyShape = z.object({
  name: text,
  type: z.enum(["person", "company"]).optional(),
  ...nullable(["subjectId", "taxId", "vatId"], text),
  isVatPayer: z.boolean().optional(),
  ...nullable(["email", "street", "city", "zip"], text),
  countryId: id.nullish(),
});

/** Where a client's goods go, if not to its own address. */
export const deliveryShape = z.object({
  hasDeliveryAddress: z.boolean().optional(),
  ...nullable(["deliveryStreet", "deliveryCity", "deliveryZip"], text),
  deliveryCountryId: id.nullish(),
});

/** What a client's documents have where a request leaves it out. */
export const preferenceShape = z.object({
  ...nullable(["preferredDeliveryMethodId", "preferredPaymentMethodId", "preferredCurrencyId"], id),
  ...nullable(["preferredLanguageId", "preferredDueDays"], id),
  ...nullable(["preferredNote", "preferredTextAboveItems"], text),
  ...nullable(["preferredVariableSymbol", "preferredSpecificSymbol", "preferredConstantSymbol"], id),
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
export type Discount = Fields<typeof discountShape>;
const discountShape = z.object({
  discountType: z.enum(["percentage", "fixed"]).nullish(),
  discountValue: z.number().nullish(),
});

/** A line of a document as requests send it. */
const itemInputShape = discountShape.extend({
  ...nullable(["uuid", "name", "description", "discountName"], text),
  ...nullable(["unitPrice", "vatRate"], z.number()),
  ...nullable(["unitId", "priceListItemId"], id),
  quantity: z.number(),
});

/** All that a request may send of any kind of document; a kind that does not have a field never shows it. */
export const documentShape = discountShape.extend({
  ...nullable(["clientId", "businessCaseId", "numericalSeriesId"], id),
  ...nullable(["invoiceId", "proformaId", "orderId", "quotationId"], id),
  ...nullable(["constantSymbol", "specificSymbol"], id),
  ...nullable(["note", "textAboveItems", "number", "validityDate"], text),
  ...optional(["currencyId", "languageId", "deliveryMethodId", "paymentMethodId", "qrTypeId"], id),
  ...optional(["bankAccountId", "variableSymbol", "dueDateDays"], id),
  ...optional(["issueDate", "dueDate", "deliveryDate"], text),
  currencyRate: z.number().optional(),
  transferTaxLiability: z.boolean().optional(),
  client: z.looseObject({}).nullish(),
  items: z.array(itemInputShape).min(1),
});
export type DocumentInput = z.output<typeof documentShape>;

/** A line of a document. */
export type Item = Identified &
  Discount &
  Each<"uuid" | "name", string> &
  Each<"description" | "discountName", string | null> &
  Each<"unitPrice" | "unitId" | "quantity" | "vatRate", number> & {
    readonly priceListItemId: number | null;
  };

/** What a request may leave out for good; all else of a document has a value. */
type Absent = "dueDate" | "deliveryDate" | "bankAccountId" | "variableSymbol";
type Sent = Omit<DocumentInput, "client" | "items" | "dueDateDays" | "number" | "clientId" | Absent>;

/** A document of any kind; a field that its kind does not have is null or a default. */
export type Document = Identified &
  Readonly<Filled<Required<Sent>>> & {
    readonly [K in Absent]: NonNullable<DocumentInput[K]> | null;
  } & Each<"uuid" | "type" | "number", string> &
  Each<"clientId", number> & {
    readonly willBePaid: boolean;
    readonly kind: DocumentKind;
    readonly company: CompanySnapshot;
    readonly client: ClientSnapshot;
    readonly answer: "waiting" | "accepted" | "rejected";
    readonly items: readonly Item[];
  };

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
  name: text,
  ...nullable(["description", "ean", "warehouseCode"], text),
  unitPrice: z.number(),
  unitId: id,
  vatRate: z.number(),
  useWarehouse: z.boolean().default(false),
  enableNegativeStock: z.boolean().default(false),
  ...nullable(["maxStock", "purchasePrice", "purchaseVatRate"], z.number()),
});
export type PriceListItem = Identified & Fields<typeof itemShape>;

export const warehouseShape = z.object({
  name: text,
  code: text,
  inboundNumericalSeriesPattern: text,
  outboundNumericalSeriesPattern: text,
  inboundNumericalSeriesNextNumber: id,
  outboundNumericalSeriesNextNumber: id,
});
export type Warehouse = Identified & Fields<typeof warehouseShape>;

/** What a request sends of a receipt. */
export const receiptShape = z.object({
  number: text,
  warehouseId: id,
  languageId: id,
  issueDate: text,
  note: text.nullable().default(null),
  items: z
    .array(
      z.object({ priceListItemId: id, quantity: z.number(), unitPrice: z.number(), vatRate: z.number() }),
    )
    .min(1),
  ...nullable(["supplierId", "clientId"], id),
  ...nullable(["supplier", "client"], z.looseObject({})),
});
type ReceiptInput = z.output<typeof receiptShape>;

/** A line of a receipt, with the item's name, code and unit of that time. */
type ReceiptLine = Identified &
  Readonly<ReceiptInput["items"][number]> & {
    readonly itemName: string;
    readonly itemCode: string | null;
    readonly unitId: number;
  };

/** Goods coming in (partner: a supplier) or going out (partner: a client). */
export interface Receipt
  extends
    Identified,
    Stamped,
    Readonly<Pick<ReceiptInput, "number" | "warehouseId" | "languageId" | "issueDate" | "note">> {
  readonly uuid: string;
  readonly company: CompanySnapshot;
  readonly partnerId: number | null;
  readonly partner: Party | ClientSnapshot | null;
  readonly lines: readonly ReceiptLine[];
}
