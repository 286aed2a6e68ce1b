/**
 * What the stand-in remembers: lookup values by id, money as the number that was sent, moments as
 * epoch milliseconds. How a record looks in an answer is the business of `view`.
 */
export interface Party {
  readonly type: "person" | "company";
  readonly name: string;
  readonly subjectId: string | null;
  readonly taxId: string | null;
  readonly vatId: string | null;
  readonly isVatPayer: boolean;
  readonly email: string | null;
  readonly street: string | null;
  readonly city: string | null;
  readonly zip: string | null;
  readonly countryId: number | null;
}

export interface DeliveryAddress {
  readonly hasDeliveryAddress: boolean;
  readonly deliveryStreet: string | null;
  readonly deliveryCity: string | null;
  readonly deliveryZip: string | null;
  readonly deliveryCountryId: number | null;
}

export type ClientSnapshot = Party & DeliveryAddress;

export interface Preferences {
  readonly preferredDeliveryMethodId: number | null;
  readonly preferredPaymentMethodId: number | null;
  readonly preferredCurrencyId: number | null;
  readonly preferredLanguageId: number | null;
  readonly preferredDueDays: number | null;
  readonly preferredNote: string | null;
  readonly preferredVariableSymbol: number | null;
  readonly preferredConstantSymbol: number | null;
  readonly preferredSpecificSymbol: number | null;
  readonly preferredTextAboveItems: string | null;
}

interface Stamped {
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface Client extends Party, DeliveryAddress, Preferences, Stamped {
  readonly id: number;
}

export interface Supplier extends Party, Stamped {
  readonly id: number;
}

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

export interface BusinessCase extends Stamped {
  readonly id: number;
  readonly contactType: "client" | "supplier";
  readonly contactId: number;
  readonly name: string;
  readonly description: string | null;
  readonly statusId: number | null;
  readonly boardPosition: number;
}

export interface Attachment {
  readonly id: number;
  readonly name: string;
  readonly mimeType: string;
  readonly content: Buffer;
}

export interface ActivityLog extends Stamped {
  readonly id: number;
  readonly type: string;
  readonly target: ActivityTarget;
  readonly metadata: ActivityMetadata;
  readonly attachments: readonly Attachment[];
}

export interface ActivityTarget {
  readonly kind: "businessCase" | "client" | "supplier";
  readonly id: number;
}

export interface ActivityMetadata {
  readonly content?: string | null;
  readonly email?: string | null;
  readonly personName?: string | null;
  readonly phoneNumber?: string | null;
  readonly documentKind?: DocumentKind;
  readonly documentId?: number;
  readonly numberSnapshot?: string;
  readonly priceSnapshot?: number;
  readonly currencySnapshotId?: number;
  readonly paidAmount?: number;
}

export interface Warehouse {
  readonly id: number;
  readonly name: string;
  readonly code: string;
  readonly inboundNumericalSeriesPattern: string;
  readonly inboundNumericalSeriesNextNumber: number;
  readonly outboundNumericalSeriesPattern: string;
  readonly outboundNumericalSeriesNextNumber: number;
}

export interface ReceiptLine {
  readonly id: number;
  readonly priceListItemId: number;
  readonly itemName: string;
  readonly itemCode: string | null;
  readonly unitId: number;
  readonly quantity: number;
  readonly unitPrice: number;
  readonly vatRate: number;
}

/** Goods coming in (partner: a supplier) or going out (partner: a client). */
export interface Receipt {
  readonly id: number;
  readonly uuid: string;
  readonly number: string;
  readonly company: CompanySnapshot;
  readonly warehouseId: number;
  readonly partnerId: number | null;
  readonly partner: Party | ClientSnapshot | null;
  readonly languageId: number;
  readonly issueDate: string;
  readonly note: string | null;
  readonly lines: readonly ReceiptLine[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** The document whose warehouse allocations made it. */
  readonly madeBy: { readonly kind: DocumentKind; readonly id: number } | null;
}

export interface PriceListItem {
  readonly id: number;
  readonly name: string;
  readonly description: string | null;
  readonly unitId: number;
  readonly unitPrice: number;
  readonly vatRate: number;
  readonly ean: string | null;
  readonly useWarehouse: boolean;
  readonly warehouseCode: string | null;
  readonly enableNegativeStock: boolean;
  readonly maxStock: number | null;
  readonly purchasePrice: number | null;
  readonly purchaseVatRate: number | null;
}

export type DocumentKind = "invoice" | "credit-note" | "proforma" | "order" | "quotation";

export interface CompanySnapshot {
  readonly name: string;
  readonly subjectId: string;
  readonly legalForm: string;
  readonly taxId: string | null;
  readonly vatId: string | null;
  readonly vatPayerTypeId: number;
  readonly country: string;
  readonly city: string;
  readonly street: string;
  readonly zip: string | null;
  readonly logo: string | null;
  readonly signature: string | null;
  readonly registrationCourt: string | null;
  readonly registrationNumber: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly web: string | null;
}

export type DiscountType = "percentage" | "fixed";

interface Allocation {
  readonly warehouseId: number;
  readonly quantity: number;
}

export interface Item {
  readonly id: number;
  readonly uuid: string;
  readonly name: string;
  readonly description: string | null;
  readonly unitPrice: number;
  readonly unitId: number;
  readonly quantity: number;
  readonly vatRate: number;
  readonly discountName: string | null;
  readonly discountType: DiscountType | null;
  readonly discountValue: number | null;
  readonly priceListItemId: number | null;
  readonly allocations: readonly Allocation[];
}

/** The documents this one was made from. */
export interface Sources {
  readonly proformaId: number | null;
  readonly orderId: number | null;
  readonly quotationId: number | null;
}

export interface Document {
  readonly kind: DocumentKind;
  readonly id: number;
  readonly uuid: string;
  readonly type: string;
  readonly number: string;
  readonly company: CompanySnapshot;
  readonly clientId: number;
  readonly client: ClientSnapshot;
  readonly bankAccountId: number | null;
  readonly invoiceId: number | null;
  readonly variableSymbol: number | null;
  readonly constantSymbol: number | null;
  readonly specificSymbol: number | null;
  readonly issueDate: string;
  readonly dueDate: string | null;
  readonly deliveryDate: string | null;
  readonly validityDate: string | null;
  readonly businessCaseId: number | null;
  readonly discountType: DiscountType | null;
  readonly discountValue: number | null;
  readonly transferTaxLiability: boolean;
  readonly numericalSeriesId: number | null;
  readonly deliveryMethodId: number;
  readonly paymentMethodId: number;
  readonly currencyId: number;
  readonly currencyRate: number;
  readonly languageId: number;
  readonly qrTypeId: number;
  readonly note: string | null;
  readonly textAboveItems: string | null;
  readonly willBePaid: boolean;
  readonly answer: "waiting" | "accepted" | "rejected";
  readonly sources: Sources;
  readonly items: readonly Item[];
}

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

export interface Series {
  readonly id: number;
  readonly documentKind: DocumentKind;
  readonly name: string;
  readonly pattern: string;
  readonly nextNumber: number;
  readonly isDefault: boolean;
}

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

export interface Subject extends Party {
  readonly id: number;
  readonly legalForm: "freelancer" | "company";
}
