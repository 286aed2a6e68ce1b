import * as re from "../../support/export/recount.ts";
import type { Dict, Row } from "../../support/export/recount.ts";
import * as b from "./books.ts";
import type { Books, Oracle } from "./books.ts";

interface Part {
  readonly json: Dict;
  readonly vatRate: number | null;
  readonly base: Known;
  readonly vat: Known;
}

/** An amount in whole cents, and the same in EUR. */
interface Known {
  readonly cents: bigint;
  readonly euro: bigint;
}

/**
 * An amount divided in proportion to parts: each gets the rounded amount up to and including it, less that before it.
 * Parts that add up to nothing stand as they are, and the last one takes the difference.
 */
function divide(amount: bigint, parts: readonly bigint[]): bigint[] {
  const all = re.sum(parts);
  if (all === amount) return [...parts];
  if (all === 0n) return parts.map((part, i) => (i === parts.length - 1 ? part + amount : part));
  const upTo = (count: number) => re.divided(amount * re.sum(parts.slice(0, count)), all);
  return parts.map((_, i) => upTo(i + 1) - upTo(i));
}

/**
 * The same in EUR, made of the shares in the currency: what they add up to is converted and rounded each time. `amount`
 * is that of the document: where it is rounded in the other direction, so are they, but not those of nothing.
 */
function inEuro(shares: readonly bigint[], amount: bigint, rate: Dict[string] | undefined): bigint[] {
  const perEuro = re.scaled(rate, 6);
  const shift = amount - re.euro(re.sum(shares), rate);
  const upTo = (count: number) => {
    if (count > 0 && count === shares.length) return amount;
    const sum = re.sum(shares.slice(0, count));
    return sum === 0n ? 0n : re.divided(2_000_000n * sum + shift * perEuro, 2n * perEuro);
  };
  return shares.map((_, i) => upTo(i + 1) - upTo(i));
}

const net = (item: Dict) => re.cents(item["total"]);

function partsOf(json: Dict): Part[] {
  const items = re.parts(json, "items");
  const rates = [...new Set(items.map((item) => Number(item["vatRate"])))].toSorted((x, y) => x - y);
  const sums = (of: (item: Dict) => bigint) =>
    rates.map((percent) => re.sum(items.filter((item) => item["vatRate"] === percent).map(of)));
  const nets = rates.length > 0 ? sums(net) : [0n];
  const vats = rates.length > 0 ? sums((item) => re.cents(item["totalWithVat"]) - net(item)) : [0n];
  const rate = json["currencyRate"];
  const [total, gross] = [re.cents(json["total"]), re.cents(json["totalWithVat"])];
  const [totalEuro, grossEuro] = [re.euro(total, rate), re.euro(gross, rate)];
  const [base, vat] = [divide(total, nets), divide(gross - total, vats)];
  const [baseEuro, vatEuro] = [inEuro(base, totalEuro, rate), inEuro(vat, grossEuro - totalEuro, rate)];
  return nets.map((_, i) => ({
    json,
    vatRate: rates[i] ?? null,
    base: { cents: base[i] ?? 0n, euro: baseEuro[i] ?? 0n },
    vat: { cents: vat[i] ?? 0n, euro: vatEuro[i] ?? 0n },
  }));
}

const known = (name: string, all: readonly Known[]): Row => ({
  [name]: re.units(re.sum(all.map(({ cents }) => cents))),
  [`${name}_eur`]: re.units(re.sum(all.map(({ euro }) => euro))),
});

const monthOf = (json: Dict) => re.monthOf(json["deliveryDate"] ?? json["issueDate"]);

function vatDocuments(books: Books): Row[] {
  const [invoices, countries] = [b.byId(books, "invoices"), b.byId(books, "countries")];
  const advance = b.ofAdvance(books);
  return b
    .billsOf(books)
    .flatMap(partsOf)
    .map(({ json, vatRate, base, vat }) => {
      const client = re.part(json, "client");
      return {
        document_type: b.isInvoice(json) ? "invoice" : "credit_note",
        document_id: json["id"] as number,
        ...b.shown(json, "number"),
        corrects: (invoices.get(json["invoiceId"])?.["number"] ?? null) as string | null,
        client_name: client["name"] as string,
        client_vat_id: client["vatId"] as string | null,
        client_country: (countries.get(client["countryId"])?.["code"] ?? null) as string | null,
        month: monthOf(json),
        month_rule: json["deliveryDate"] === null ? "issue_date" : "delivery_date",
        issue_month: re.monthOf(json["issueDate"]),
        currency: b.currencyOf(books, json),
        vat_rate: vatRate,
        reverse_charge: Number(json["transferTaxLiability"]),
        of_advance: Number(advance(json)),
        ...known("base", [base]),
        ...known("vat", [vat]),
      };
    });
}

function vatByMonth(books: Books): Row[] {
  const advance = b.ofAdvance(books);
  const placed = b
    .billsOf(books)
    .flatMap(partsOf)
    .flatMap((part) => {
      const [byRule, issued] = [monthOf(part.json), re.monthOf(part.json["issueDate"])];
      const byIssue = b.isInvoice(part.json) ? byRule : issued;
      return [...new Set([byRule, byIssue])].map((month) => ({ ...part, month, byRule, byIssue }));
    });
  return b
    .groups(placed, ({ month, json, vatRate }) => [month, b.currencyOf(books, json), vatRate])
    .map(([[month = "", currency = "", rate = ""], all]) => {
      const ruled = all.filter(({ byRule }) => byRule === month);
      const issued = all.filter(({ byIssue }) => byIssue === month);
      const charged = (some: typeof all) => some.filter(({ json }) => json["transferTaxLiability"] !== true);
      const advances = ruled.filter(({ json }) => advance(json));
      const bases = (some: typeof all) => some.map(({ base }) => base);
      const vats = (some: typeof all) => some.map(({ vat }) => vat);
      return {
        month,
        currency,
        vat_rate: rate === "null" ? null : Number(rate),
        documents: ruled.length,
        ...known("base", bases(charged(ruled))),
        ...known("vat", vats(ruled)),
        ...known("reverse_charge", bases(ruled.filter((each) => !charged([each]).length))),
        ...known("advance_base", bases(charged(advances))),
        ...known("advance_vat", vats(advances)),
        ...known("base_by_issue", bases(charged(issued))),
        ...known("vat_by_issue", vats(issued)),
      };
    });
}

/** Every line as printed, with its share of the document's total; of an advance in columns of its own. */
function salesLines(books: Books): Row[] {
  const advance = b.ofAdvance(books);
  return b.billsOf(books).flatMap((json) => {
    const items = re.parts(json, "items");
    const shares = (field: string, rate = json["currencyRate"]) => {
      const amount = re.cents(json[field]);
      const printed = items.map((item) => re.cents(item[field]));
      const own = divide(amount, printed);
      const euros = inEuro(own, re.euro(amount, rate), rate);
      return own.map((cents, i): Known[] => [{ cents, euro: euros[i] ?? 0n }]);
    };
    const [nets, grosses] = [shares("total"), shares("totalWithVat")];
    const [name, other] = advance(json)
      ? ["receipted_advances", "revenue"]
      : ["revenue", "receipted_advances"];
    return items.map((item, i) => ({
      document_type: b.isInvoice(json) ? "invoice" : "credit_note",
      document_id: json["id"] as number,
      document_number: json["number"] as string,
      ...b.whose(books, json),
      position: i,
      ...b.shown(item, "priceListItemId name total totalWithVat"),
      ...known(name, nets[i] ?? []),
      ...known(`${name}_with_vat`, grosses[i] ?? []),
      ...known(other, []),
      ...known(`${other}_with_vat`, []),
    }));
  });
}

export const vatOracles: Readonly<Record<string, Oracle>> = {
  v_vat_documents: vatDocuments,
  v_vat_by_month: vatByMonth,
  v_sales_lines: salesLines,
};
