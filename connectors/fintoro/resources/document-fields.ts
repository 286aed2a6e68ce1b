import type { z } from "zod";
import * as t from "../../../src/connector/record-schema.ts";
import { currency } from "./lookups.ts";
import { clientSnapshot, companySnapshot } from "./clients-and-suppliers.ts";

/** Fields that the five kinds of documents share, in the order of the answer. */
export const paymentStatuses = t.namesIn("paid unpaid partially_paid overdue will_not_be_paid");
export const quotationStatuses = t.namesIn("waiting accepted rejected");
export const discountTypes = t.namesIn("percentage fixed");

/** `type` has the value of examples in the published reference; its text names `payment_receipt`, too. */
const opening = <const V extends readonly string[]>(types: V) => ({
  id: t.integer(),
  uuid: t.doc("Stable, also part of the public web address", t.text()),
  type: t.doc(
    types.includes("payment_receipt")
      ? "Kind of document; payment_receipt: tax document of an advance, which owes VAT and is no revenue"
      : "Kind of document",
    t.oneOf(types, types),
  ),
  number: t.doc("As printed, unique in its kind", t.text()),
});

/** Known values of `type`, by table. */
export const documentTypes = {
  invoices: ["invoice", "payment_receipt"],
  credit_notes: ["credit-note"],
  proformas: ["proforma"],
  orders: ["order"],
  quotations: ["quotation"],
} as const;
type DocumentName = keyof typeof documentTypes;

const buyer = {
  clientId: t.doc("The live client", t.idOf("clients")),
  client: t.doc("The client on the day of issue", t.snapshot(clientSnapshot)),
};

/** The interface document states the address of the PDF of these. */
const withStatedPdf: ReadonlySet<DocumentName> = new Set(["invoices", "quotations"]);

export const documentHead = <T extends DocumentName>(table: T) => {
  const pdfDownloadUrl = t.doc("Address of its PDF; data, never followed", t.text());
  return {
    ...opening(documentTypes[table]),
    webDokladUrl: t.doc("Public web page of the document", t.text()),
    pdfDownloadUrl: withStatedPdf.has(table) ? t.stated(pdfDownloadUrl) : pdfDownloadUrl,
    company: t.doc("The company on the day of issue", t.snapshot(companySnapshot)),
    ...buyer,
  };
};

/** A document as the list of its kind shows it. */
export const preview = <T extends DocumentName, D extends z.ZodRawShape, S extends z.ZodRawShape>(
  table: T,
  datesOfKind: D,
  stateOfKind: S,
) =>
  t.record({
    ...opening(documentTypes[table]),
    ...buyer,
    ...datesOfKind,
    currency: t.nested("currencies", currency),
    total: t.doc("Without VAT", t.decimal()),
    totalWithVat: t.decimal(),
    ...stateOfKind,
  });

export const symbols = t.each("constantSymbol specificSymbol", t.orNull(t.integer()));

/** `isListed`: the reference lists the values of this discount's type; it does not for all documents. */
const discount = (isListed: boolean) => ({
  discountType: t.orNull(t.oneOf(discountTypes, isListed ? [] : discountTypes)),
  discountValue: t.doc("Percent or amount, by the discount's type", t.orNull(t.decimal())),
});

export const terms = (isDiscountListed: boolean) => ({
  businessCaseId: t.orNull(t.idOf("business_cases")),
  ...discount(isDiscountListed),
  transferTaxLiability: t.doc("Reverse charge: the client pays the VAT", t.boolean()),
  numericalSeriesId: t.orNull(t.idOf("numerical_series")),
});

/** What is set for a document, in the order of the answer. */
export const settings = {
  deliveryMethodId: t.idOf("delivery_methods"),
  paymentMethodId: t.idOf("payment_methods"),
  currencyId: t.idOf("currencies"),
  currencyRate: t.doc("Units of the currency per euro; 1 for EUR", t.decimal()),
  languageId: t.idOf("languages"),
  qrTypeId: t.idOf("qr_types"),
};

/** The settings that a kind of document has, where it has not all of them. */
export function someSettings<K extends keyof typeof settings>(...names: readonly K[]) {
  return Object.fromEntries(names.map((name) => [name, settings[name]])) as Pick<typeof settings, K>;
}

export const content = {
  ...t.each("note textAboveItems", t.orNull(t.text())),
  itemsTotal: t.doc("Lines without VAT, before the document's discount", t.decimal()),
  itemsTotalWithVat: t.decimal(),
};

export const totals = {
  total: t.doc("Without VAT, after all discounts", t.decimal()),
  totalWithVat: t.decimal(),
};

export const alreadyPaid = t.doc("What was paid so far", t.decimal());

/** How far it is paid, and whether it has VAT. */
export const payment = {
  toBePaid: t.doc("What is still open", t.decimal()),
  status: t.doc("How far it is paid; will_not_be_paid: given up", t.oneOf(paymentStatuses)),
  hasVat: t.boolean(),
};

export const item = (isDiscountListed: boolean) => ({
  id: t.integer(),
  name: t.text(),
  description: t.orNull(t.text()),
  unitPrice: t.doc("Without VAT", t.decimal()),
  unitId: t.idOf("units"),
  quantity: t.decimal(),
  vatRate: t.doc("Percent", t.decimal()),
  discountName: t.orNull(t.text()),
  ...discount(isDiscountListed),
  total: t.doc("Without VAT, after the line's discount", t.decimal()),
  totalWithVat: t.decimal(),
});

export const dates = t.each("issueDate dueDate", t.date());
