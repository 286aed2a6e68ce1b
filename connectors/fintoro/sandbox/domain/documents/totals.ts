import { decimal, divide, percentOf, productCents, toCents, withVatCents } from "../../base/decimal-money.ts";
import type { Discount, Document, Item } from "../../model/company-records.ts";

/** Without and with VAT, cents. */
export interface Amounts {
  readonly net: bigint;
  readonly gross: bigint;
}

/** The sums of a document: of each line, of the lines together, and after the document's discount. */
export interface Totals extends Amounts {
  readonly items: readonly Amounts[];
  readonly itemsNet: bigint;
  readonly itemsGross: bigint;
  readonly hasVat: boolean;
}

type Charged = Pick<Document, "discountType" | "discountValue" | "transferTaxLiability" | "items">;

/** A line: price x quantity less its discount, VAT on the rounded net; no VAT under reverse charge. */
function itemAmounts(item: Item, reverseCharge: boolean): Amounts {
  const full = productCents(decimal(item.unitPrice), decimal(item.quantity));
  const net = full - discountOf(full, item);
  return { net, gross: reverseCharge ? net : withVatCents(net, item.vatRate) };
}

/** The document's sums; its discount lowers net and gross in proportion. */
export function totalsOf(document: Charged): Totals {
  const { discountType, transferTaxLiability } = document;
  const items = document.items.map((item) => itemAmounts(item, transferTaxLiability));
  const itemsNet = items.reduce((sum, { net }) => sum + net, 0n);
  const itemsGross = items.reduce((sum, { gross }) => sum + gross, 0n);
  const discount = discountOf(itemsNet, document);
  const inProportion = itemsNet === 0n ? discount : divide(discount * itemsGross, itemsNet);
  const isPercentage = discountType === "percentage";
  const grossDiscount = isPercentage ? discountOf(itemsGross, document) : inProportion;
  const hasVat = document.items.some((item) => item.vatRate > 0) && !transferTaxLiability;
  return { items, itemsNet, itemsGross, net: itemsNet - discount, gross: itemsGross - grossDiscount, hasVat };
}

/** A fixed discount makes an amount smaller, whichever sign it has. */
function discountOf(cents: bigint, { discountType: type, discountValue: value }: Discount): bigint {
  if (type === null || value === null) return 0n;
  if (type === "percentage") return percentOf(cents, decimal(value));
  return cents < 0n ? -toCents(decimal(value)) : toCents(decimal(value));
}
