import * as re from "../../support/export/recount.ts";
import type { Dict, Row } from "../../support/export/recount.ts";
import * as b from "./books.ts";
import type { Books, Money, Oracle } from "./books.ts";

const paymentsOf = (books: Books, type: string, json: Dict) =>
  re
    .of(books.records, "document_payments")
    .filter((payment) => payment["documentType"] === type && payment["documentId"] === json["id"]);

const daysOf = (payments: readonly Dict[]) =>
  payments.length === 0 ? null : re.most(payments.map((payment) => payment["paymentDate"]));

const paidDate = (books: Books, json: Dict) =>
  json["status"] === "paid" ? daysOf(paymentsOf(books, "invoice", json)) : null;

const head = (books: Books, json: Dict): Row => ({
  ...b.shown(json, "number issueDate"),
  ...b.whose(books, json),
});

function invoiceList(books: Books): Row[] {
  return b.invoicesOf(books).map((json) => {
    const paid = paidDate(books, json);
    return {
      invoice_id: json["id"] as number,
      ...head(books, json),
      ...b.shown(json, "type status dueDate"),
      ...b.amountsOf(json, "total totalWithVat toBePaid"),
      ...b.sums("credited", [b.money(json, "creditNotesSumTotalWithVat")]),
      paid_date: paid,
      days_to_pay: paid === null ? null : re.daysBetween(json["issueDate"], paid),
      days_overdue: b.isOpen(json) ? b.overdueDays(json, books) : 0,
      reverse_charge: Number(json["transferTaxLiability"]),
      payment_method: b.nameIn(books, "payment_methods", json["paymentMethodId"]),
      delivery_method: b.nameIn(books, "delivery_methods", json["deliveryMethodId"]),
      business_case: b.nameIn(books, "business_cases", json["businessCaseId"]),
    };
  });
}

function writeOffs(books: Books): Row[] {
  return b
    .billsOf(books)
    .filter((json) => json["status"] === "will_not_be_paid")
    .map((json) => ({
      document_type: b.isInvoice(json) ? "invoice" : "credit_note",
      document_id: json["id"] as number,
      ...head(books, json),
      ...b.amountsOf(json, "totalWithVat"),
      ...b.sums("written_off", [b.money(json, "toBePaid")]),
    }));
}

/** To one decimal; null of nothing. */
function average(numbers: readonly number[]): number | null {
  const sum = numbers.reduce((total, each) => total + each, 0);
  return numbers.length === 0 ? null : Number(re.divided(BigInt(sum) * 10n, BigInt(numbers.length))) / 10;
}

function daysToPay(books: Books): Row[] {
  const paid = b.invoicesOf(books).flatMap((json) => {
    const day = json["type"] === "payment_receipt" ? null : paidDate(books, json);
    if (day === null) return [];
    const late = re.daysBetween(json["dueDate"], day);
    return [{ json, day, days: re.daysBetween(json["issueDate"], day), late }];
  });
  return b
    .groups(paid, ({ json }) => [json["clientId"]])
    .map(([, all]) => {
      const days = all.map((each) => each.days);
      const invoices = all.map(({ json }) => json);
      const late = all.map((each) => each.late).filter((each) => each > 0);
      return {
        ...b.clientOf(books, invoices),
        invoices: all.length,
        average_days: average(days),
        shortest_days: Math.min(...days),
        longest_days: Math.max(...days),
        paid_late: late.length,
        average_days_late: average(late),
        last_paid_date: re.most(all.map(({ day }) => day)),
      };
    });
}

/** The last rate of a currency that is known on a day: that of the most units, where several are. */
function rateOn(books: Books, currency: string, day: string) {
  if (currency === "EUR") return { rate: 1, date: null };
  const shown = [...b.billsOf(books), ...re.of(books.records, "document_payments")]
    .filter((json) => b.currencyOf(books, json) === currency)
    .map((json) => ({
      date: String(json["paymentDate"] ?? json["deliveryDate"] ?? json["issueDate"]),
      rate: Number(json["currencyRate"]),
    }))
    .filter(({ date }) => date <= day);
  if (shown.length === 0) return { rate: null, date: null };
  const date = re.most(shown.map((each) => each.date));
  return { date, rate: Math.max(...shown.filter((each) => each.date === date).map(({ rate }) => rate)) };
}

function proformaList(books: Books): Row[] {
  const invoices = b.byId(books, "invoices");
  return re.of(books.records, "proformas").map((json) => {
    const payments = paymentsOf(books, "proforma", json);
    const receipted = payments.filter((payment) => invoices.has(re.part(payment, "receiptInvoice")["id"]));
    const { rate, date } = rateOn(books, b.currencyOf(books, json), String(json["issueDate"]));
    const at = (cents: bigint): Money[] => [{ cents, rate }];
    const [gross, open] = [re.cents(json["totalWithVat"]), re.cents(json["toBePaid"])];
    return {
      proforma_id: json["id"] as number,
      ...head(books, json),
      status: json["status"] as string,
      settlement:
        payments.length === 0
          ? "not paid"
          : receipted.length === payments.length
            ? "settled"
            : receipted.length > 0
              ? "partly settled"
              : "advance",
      rate,
      rate_date: date,
      ...b.sums("total", at(re.cents(json["total"]))),
      ...b.sums("total_with_vat", at(gross)),
      ...b.sums("paid", at(gross - open)),
      ...b.sums("to_be_paid", at(open)),
      last_payment_date: daysOf(payments),
    };
  });
}

/** How many documents of a table are in the same case; null without a case. */
function inCase(books: Books, table: string, json: Dict): { count: number | null; first: string | null } {
  if (json["businessCaseId"] === null) return { count: null, first: null };
  const all = re
    .of(books.records, table)
    .filter((one) => one["businessCaseId"] === json["businessCaseId"] && one["type"] !== "payment_receipt");
  return {
    count: all.length,
    first: all.length === 0 ? null : re.least(all.map((other) => other["issueDate"])),
  };
}

const followed = (books: Books, json: Dict): Row => {
  const { count, first } = inCase(books, "invoices", json);
  return {
    ...head(books, json),
    ...b.sums("total", [b.plain(books, json)]),
    business_case: b.nameIn(books, "business_cases", json["businessCaseId"]),
    invoices_in_case: count,
    first_invoice_date: first,
  };
};

function quotationList(books: Books): Row[] {
  return re.of(books.records, "quotations").map((json) => ({
    quotation_id: json["id"] as number,
    ...followed(books, json),
    outcome:
      json["status"] === "waiting" && String(json["validityDate"]) < books.today
        ? "expired"
        : (json["status"] as string),
    orders_in_case: inCase(books, "orders", json).count,
  }));
}

function orderList(books: Books): Row[] {
  return re
    .of(books.records, "orders")
    .map((json) => ({ order_id: json["id"] as number, ...followed(books, json) }));
}

export const documentOracles: Readonly<Record<string, Oracle>> = {
  v_invoices: invoiceList,
  v_write_offs: writeOffs,
  v_days_to_pay: daysToPay,
  v_proformas: proformaList,
  v_quotations: quotationList,
  v_orders: orderList,
};
