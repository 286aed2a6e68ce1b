import {
  boolean,
  date,
  decimal,
  doc,
  idOf,
  integer,
  nested,
  oneOf,
  orNull,
  snapshot,
  stated,
  text,
} from "../../../../src/connector/record-schema.ts";
import { currency } from "../lookups.ts";
import { clientSnapshot, companySnapshot } from "../party-snapshots.ts";

/** Fields that the five kinds of documents share, in the order they are answered. */
export const paymentStatuses = ["paid", "unpaid", "partially_paid", "overdue", "will_not_be_paid"] as const;
export const quotationStatuses = ["waiting", "accepted", "rejected"] as const;
export const discountTypes = ["percentage", "fixed"] as const;

/** Some details leave these enums open although their siblings list the values. */
export const discountType = () => orNull(oneOf(discountTypes));
export const openDiscountType = () => orNull(oneOf(discountTypes, discountTypes));

const clientId = () => doc("The live client", idOf("clients"));
const client = () => doc("The client on the day of issue", snapshot(clientSnapshot));

const opening = {
  id: integer(),
  uuid: doc("Stable, also part of the public web address", text()),
  type: doc("Kind of document", text()),
  number: doc("As printed, unique in its kind", text()),
};

const addresses = {
  webDokladUrl: doc("Public web page of the document", text()),
  pdfDownloadUrl: doc("Address of its PDF; data, never followed", text()),
};

const parties = {
  company: doc("The company on the day of issue", snapshot(companySnapshot)),
  clientId: clientId(),
  client: client(),
};

export const documentHead = { ...opening, ...addresses, ...parties };

/** The same, where the interface document itself names the PDF's address. */
export const documentHeadStated = {
  ...opening,
  ...addresses,
  pdfDownloadUrl: stated(doc("Address of its PDF; data, never followed", text())),
  ...parties,
};

export const previewHead = { ...opening, clientId: clientId(), client: client() };

export const previewTotals = {
  currency: nested("currencies", currency),
  total: doc("Without VAT", decimal()),
  totalWithVat: decimal(),
};

export const hasVat = boolean();

export const symbols = {
  constantSymbol: orNull(integer()),
  specificSymbol: orNull(integer()),
};

export const businessCaseId = orNull(idOf("business_cases"));
export const discountValue = doc("Percent or amount, by the discount's type", orNull(decimal()));

export const terms = {
  transferTaxLiability: doc("Reverse charge: the client pays the VAT", boolean()),
  numericalSeriesId: orNull(idOf("numerical_series")),
};

export const deliveryMethodId = idOf("delivery_methods");
export const paymentMethodId = idOf("payment_methods");
export const currencyId = idOf("currencies");
export const currencyRate = doc("Units of the currency per euro; 1 for EUR", decimal());
export const languageId = idOf("languages");
export const qrTypeId = idOf("qr_types");

export const texts = {
  note: orNull(text()),
  textAboveItems: orNull(text()),
};

export const itemSums = {
  itemsTotal: doc("Lines without VAT, before the document's discount", decimal()),
  itemsTotalWithVat: decimal(),
};

export const totals = {
  total: doc("Without VAT, after all discounts", decimal()),
  totalWithVat: decimal(),
};

export const toBePaid = doc("What is still open", decimal());
export const alreadyPaid = doc("What was paid so far", decimal());
export const paymentStatus = () => oneOf(paymentStatuses);

export const itemHead = {
  name: text(),
  description: orNull(text()),
  unitPrice: doc("Without VAT", decimal()),
  unitId: idOf("units"),
  quantity: decimal(),
  vatRate: doc("Percent", decimal()),
  discountName: orNull(text()),
};

export const itemTotals = {
  total: doc("Without VAT, after the line's discount", decimal()),
  totalWithVat: decimal(),
};

export const stockLink = {
  priceListItemId: doc("The price list item the line came from", orNull(idOf("price_list_items"))),
};

export const dates = { issueDate: date(), dueDate: date() };

/** Ascending by number: unique, and a new document comes last. */
export const byNumber = { sortBy: "number", sortDirection: "asc" } as const;
