export type DocumentKind = "invoice" | "credit-note" | "proforma" | "order" | "quotation";

type Words<S extends string> = S extends `${infer First} ${infer Rest}` ? First | Words<Rest> : S;
/** Fields of one type, by their names with a space between them. */
type Each<Names extends string, T> = Readonly<Record<Words<Names>, T>>;

export type Discount = Each<"discountType", string | null> & Each<"discountValue", number | null>;

/**
 * A record of any collection as the sandbox keeps it: lookup values by id, money as the number that was sent,
 * moments as epoch ms. Which of the fields it has, its collection says; how it looks in an answer, its view.
 */
export type BookRow = Discount &
  Each<"id createdAtMs updatedAtMs clientId currencyId currencyRate languageId warehouseId", number> &
  Each<"deliveryMethodId paymentMethodId qrTypeId unitPrice unitId vatRate nextNumber documentId", number> &
  Each<"contactId boardPosition", number> &
  Each<"inboundNumericalSeriesNextNumber outboundNumericalSeriesNextNumber", number> &
  Each<"uuid name number type issueDate paymentDate code url secret pattern iban swift", string> &
  Each<"autoPairingStrategy", string> &
  Each<"inboundNumericalSeriesPattern outboundNumericalSeriesPattern", string> &
  Each<"description note textAboveItems dueDate deliveryDate validityDate ean warehouseCode", string | null> &
  Each<"city zip street vatId subjectId taxId", string | null> &
  Each<
    "businessCaseId invoiceId proformaId numericalSeriesId bankAccountId statusId partnerId",
    number | null
  > &
  Each<"variableSymbol constantSymbol specificSymbol lastSuccessAtMs lastFailureAtMs", number | null> &
  Each<
    "countryId deliveryCountryId preferredLanguageId preferredCurrencyId preferredDueDays",
    number | null
  > &
  Each<"purchasePrice purchaseVatRate bankId receiptInvoiceId", number | null> &
  Each<"isActive isDefault isVatPayer isPrimary useWarehouse willBePaid transferTaxLiability", boolean> &
  Each<"kind documentKind", DocumentKind> & {
    readonly subscribedEvents: readonly string[];
    readonly contactType: "client" | "supplier";
    readonly target: { readonly table: "business_cases" | "clients" | "suppliers"; readonly id: number };
    /** Of all types of CRM events together. */
    readonly metadata: Partial<
      Each<"content email personName phoneNumber", string | null> &
        Each<"documentId priceSnapshot currencySnapshotId paidAmount", number> &
        Each<"numberSnapshot", string> &
        Each<"documentKind", DocumentKind>
    >;
    readonly attachments: readonly Attachment[];
    readonly partner: BookRow | null;
    readonly answer: "waiting" | "accepted" | "rejected";
    readonly company: object;
    readonly client: BookRow;
    readonly items: readonly Line[];
    readonly amountCents: bigint;
    /** What the bank last reported of an account. */
    readonly openBanking: (Each<"balance syncedAtMs", number> & Each<"until", string>) | null;
  };

/** A line of a document, or of a receipt with the item's name, code and unit of that time. */
type Line = Discount &
  Each<"id unitPrice unitId quantity vatRate", number> &
  Each<"uuid", string> &
  Partial<Each<"name itemName", string>> &
  Each<"itemCode", string | null> &
  Each<"priceListItemId", number | null>;

export type Upload = Each<"name mimeType", string> & { readonly content: Buffer };
export type Attachment = Upload & Each<"id", number>;
