export type DocumentKind = "invoice" | "credit-note" | "proforma" | "order" | "quotation";

type Each<K extends string, T> = Readonly<Record<K, T>>;

/**
 * A record of any collection as the sandbox keeps it: lookup values by id, money as the number that was sent,
 * moments as epoch ms. Which of the fields it has, its collection says; how it looks in an answer, its view.
 */
export type BookRow = Each<"id" | "createdAtMs" | "updatedAtMs", number> &
  Each<"uuid" | "name" | "number" | "type" | "issueDate" | "code", string> &
  Each<
    "description" | "note" | "textAboveItems" | "dueDate" | "deliveryDate" | "validityDate",
    string | null
  > &
  Each<
    "clientId" | "currencyId" | "currencyRate" | "languageId" | "paymentMethodId" | "warehouseId",
    number
  > &
  Each<"businessCaseId" | "invoiceId" | "proformaId" | "numericalSeriesId" | "bankAccountId", number | null> &
  Each<"variableSymbol" | "constantSymbol" | "specificSymbol", number | null> &
  Each<"deliveryMethodId" | "qrTypeId" | "unitPrice" | "unitId" | "vatRate", number> &
  PartyFields &
  CrmFields &
  StockFields &
  MoneyFields &
  Each<"url" | "secret" | "pattern" | "iban" | "swift" | "autoPairingStrategy", string> &
  Each<"lastSuccessAtMs" | "lastFailureAtMs", number | null> & {
    readonly isActive: boolean;
    readonly subscribedEvents: readonly string[];
    readonly nextNumber: number;
    readonly isDefault: boolean;
  };

/** Of clients, suppliers and the copies of them that documents and receipts keep. */
type PartyFields = Each<"city" | "zip" | "street" | "vatId" | "subjectId" | "taxId", string | null> &
  Each<"countryId" | "deliveryCountryId", number | null> &
  Each<"preferredLanguageId" | "preferredCurrencyId" | "preferredDueDays", number | null> & {
    readonly isVatPayer: boolean;
  };

/** Of business cases and CRM events. */
interface CrmFields {
  readonly contactType: "client" | "supplier";
  readonly contactId: number;
  readonly statusId: number | null;
  readonly boardPosition: number;
  /** Table and id of what a CRM event belongs to. */
  readonly target: { readonly table: "business_cases" | "clients" | "suppliers"; readonly id: number };
  /** Of all types of CRM events together. */
  readonly metadata: Partial<
    Each<"content" | "email" | "personName" | "phoneNumber", string | null> &
      Each<"documentId" | "priceSnapshot" | "currencySnapshotId" | "paidAmount", number> &
      Each<"numberSnapshot", string> &
      Each<"documentKind", DocumentKind>
  >;
  readonly attachments: readonly Attachment[];
}

/** Of warehouses, price-list items and receipts, whose partner is a supplier or a client. */
type StockFields = Each<"ean" | "warehouseCode", string | null> &
  Each<"purchasePrice" | "purchaseVatRate" | "partnerId", number | null> &
  Each<"inboundNumericalSeriesPattern" | "outboundNumericalSeriesPattern", string> &
  Each<"inboundNumericalSeriesNextNumber" | "outboundNumericalSeriesNextNumber", number> & {
    readonly useWarehouse: boolean;
    readonly partner: BookRow | null;
  };

/** Of bank accounts, documents, their payments and receipts. */
type MoneyFields = Discount &
  Each<"kind" | "documentKind", DocumentKind> &
  Each<"willBePaid" | "transferTaxLiability" | "isPrimary", boolean> &
  Each<"bankId" | "receiptInvoiceId", number | null> &
  Each<"documentId", number> & {
    readonly answer: "waiting" | "accepted" | "rejected";
    /** What documents show of the company itself and of their client. */
    readonly company: object;
    readonly client: BookRow;
    readonly items: readonly Line[];
    readonly paymentDate: string;
    readonly amountCents: bigint;
    /** What the bank last reported of an account. */
    readonly openBanking: {
      readonly balance: number;
      readonly syncedAtMs: number;
      readonly until: string;
    } | null;
  };

/** A discount on a line or on a whole document. */
export interface Discount {
  readonly discountType: string | null;
  readonly discountValue: number | null;
}

/** A line of a document, or of a receipt with the item's name, code and unit of that time. */
export type Line = Discount &
  Each<"id" | "unitPrice" | "unitId" | "quantity" | "vatRate", number> &
  Each<"uuid", string> &
  Partial<Each<"name" | "itemName", string>> &
  Each<"itemCode", string | null> & { readonly priceListItemId: number | null };

/** An uploaded file, and a file at a CRM event. */
export interface Upload {
  readonly name: string;
  readonly mimeType: string;
  readonly content: Buffer;
}
export type Attachment = Upload & Each<"id", number>;
