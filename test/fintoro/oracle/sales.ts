import * as re from "../../support/export/recount.ts";
import type { Dict, Row } from "../../support/export/recount.ts";
import * as b from "./books.ts";
import type { Books, Money, Oracle } from "./books.ts";

/** Two columns: the sum of a field of documents. */
const added = (name: string, all: readonly Dict[], field: string, sign = 1n) =>
  b.sums(
    name,
    all.map((json) => b.money(json, field, sign)),
  );

/** How many documents, and the sums of them; those of advances apart. */
function earned(books: Books, all: readonly Dict[]): Row {
  const advance = b.ofAdvance(books);
  const sold = all.filter((json) => !advance(json));
  const receipted = all.filter((json) => advance(json));
  return {
    invoices: sold.filter(b.isInvoice).length,
    credit_notes: sold.filter((json) => !b.isInvoice(json)).length,
    payment_receipts: receipted.length,
    ...added("revenue", sold, "total"),
    ...added("revenue_with_vat", sold, "totalWithVat"),
    ...added("receipted_advances", receipted, "total"),
    ...added("receipted_advances_with_vat", receipted, "totalWithVat"),
  };
}

const revenueBy =
  (name: "month" | "year"): Oracle =>
  (books) =>
    b
      .groups(b.billsOf(books), (json) => [
        String(json["issueDate"]).slice(0, name === "month" ? 7 : 4),
        b.currencyOf(books, json),
      ])
      .map(([[period = "", currency = ""], all]) => ({
        [name]: name === "month" ? period : Number(period),
        currency,
        ...earned(books, all),
      }));

/** Open credit notes beside what they are set against: an age of the client's open invoices in their currency. */
function placedCredits(books: Books): (Money & { readonly place: string })[] {
  const open = b.invoicesOf(books).filter(b.isOpen);
  return b.creditNotesOf(books).flatMap((note) => {
    if (!b.isOpenCredit(note)) return [];
    const near = open.filter(
      (json) =>
        json["clientId"] === note["clientId"] && b.currencyOf(books, json) === b.currencyOf(books, note),
    );
    const own = near.find(({ id }) => id === note["invoiceId"]);
    const days = (own ? [own] : near).map((json) => b.overdueDays(json, books));
    if (days.length === 0) return [];
    const place = placeOf(books, note, Math.max(...days));
    return [{ ...b.money(note, "toBePaid", -1n), place }];
  });
}

const placeOf = (books: Books, json: Dict, days: number) =>
  [json["clientId"], b.currencyOf(books, json), re.ageOf(days)].join("|");

function receivables(books: Books): Row[] {
  const open = b.invoicesOf(books).filter(b.isOpen);
  const credits = Map.groupBy(placedCredits(books), ({ place }) => place);
  return [...Map.groupBy(open, (json) => placeOf(books, json, b.overdueDays(json, books)))].map(
    ([place, all]) => {
      const [, currency = "", age = ""] = place.split("|");
      const owed = all.map((json) => b.money(json, "toBePaid"));
      const credit = credits.get(place) ?? [];
      return {
        ...b.clientOf(books, all),
        currency,
        age,
        invoices: all.length,
        ...b.sums("to_be_paid", owed),
        ...b.sums("credit_open", credit),
        ...b.sums("net", [...owed, ...credit.map((each) => ({ ...each, cents: -each.cents }))]),
        oldest_due_date: re.least(all.map((json) => json["dueDate"])),
        most_days_overdue: Math.max(...all.map((json) => b.overdueDays(json, books))),
      };
    },
  );
}

function openInvoices(books: Books): Row[] {
  const notes = b.creditNotesOf(books).filter(b.isOpenCredit);
  return b
    .invoicesOf(books)
    .filter(b.isOpen)
    .map((json) => {
      const mine = notes.filter(
        (note) => note["invoiceId"] === json["id"] && note["currencyId"] === json["currencyId"],
      );
      return {
        invoice_id: json["id"] as number,
        ...b.shown(json, "number"),
        days_overdue: b.overdueDays(json, books),
        age: re.ageOf(b.overdueDays(json, books)),
        ...b.amountsOf(json, "totalWithVat toBePaid"),
        ...added("credit_open", mine, "toBePaid", -1n),
        ...added("net", [json, ...mine], "toBePaid"),
      };
    });
}

/** What is open of invoices and credit notes, and payments of proformas without a live receipt. */
function clientBalance(books: Books): Row[] {
  const invoices = b.byId(books, "invoices");
  const proformas = b.byId(books, "proformas");
  const owed = b.invoicesOf(books).filter(b.isOpen);
  const parts = [
    ...owed.map((json) => ({ kind: "invoices", document: json, json, ...b.money(json, "toBePaid") })),
    ...b
      .creditNotesOf(books)
      .filter(b.isOpenCredit)
      .map((json) => ({ kind: "credit_notes", document: json, json, ...b.money(json, "toBePaid", -1n) })),
    ...re.of(books.records, "document_payments").flatMap((json) => {
      const document = json["documentType"] === "proforma" ? proformas.get(json["documentId"]) : undefined;
      const receipt = json["receiptInvoice"] === null ? null : re.part(json, "receiptInvoice")["id"];
      if (!document || invoices.has(receipt)) return [];
      return [{ kind: "advances", document, json, ...b.money(json, "amount") }];
    }),
  ];
  return b
    .groups(parts, ({ document, json }) => [document["clientId"], b.currencyOf(books, json)])
    .map(([[, currency = ""], all]) => {
      const of = (kind: string) => all.filter((each) => each.kind === kind);
      const documents = all.map(({ document }) => document);
      const net = all.map((each) => ({
        ...each,
        cents: each.kind === "invoices" ? each.cents : -each.cents,
      }));
      return {
        ...b.clientOf(books, documents),
        currency,
        ...b.sums("invoices", of("invoices")),
        ...b.sums("credit_notes", of("credit_notes")),
        ...b.sums("advances", of("advances")),
        ...b.sums("net", net),
      };
    });
}

function clientSummary(books: Books): Row[] {
  const rowOf = (client: Row, currency: string | null, all: readonly Dict[]): Row => {
    const owed = all.filter((json) => b.isInvoice(json) && b.isOpen(json));
    const late = owed.filter((json) => b.overdueDays(json, books) > 0);
    const dates = all.map((json) => json["issueDate"]);
    return {
      ...client,
      currency,
      ...earned(books, all),
      ...added("to_be_paid", owed, "toBePaid"),
      ...added("overdue", late, "toBePaid"),
      first_issue_date: all.length === 0 ? null : re.least(dates),
      last_issue_date: all.length === 0 ? null : re.most(dates),
    };
  };
  const sold = b.groups(b.billsOf(books), (json) => [json["clientId"], b.currencyOf(books, json)]);
  const buyers = new Set<unknown>(b.billsOf(books).map((json) => json["clientId"]));
  const idle = re.of(books.records, "clients").filter(({ id }) => !buyers.has(id));
  return [
    ...sold.map(([[, currency = ""], all]) => rowOf(b.clientOf(books, all), currency, all)),
    ...idle.map(({ id, name }) => rowOf({ client_id: id as number, client_name: name as string }, null, [])),
  ];
}

/** Payments by day. The sandbox's receipts are all payment receipts: what they show as paid is the same money, not counted again. */
function paymentsByDay(books: Books): Row[] {
  const payments = re.of(books.records, "document_payments");
  const receipts = new Set<unknown>(
    payments.flatMap((json) =>
      json["documentType"] === "proforma" && json["receiptInvoice"] !== null
        ? [re.part(json, "receiptInvoice")["id"]]
        : [],
    ),
  );
  const counted = payments.filter(
    (json) => json["documentType"] !== "invoice" || !receipts.has(json["documentId"]),
  );
  return b
    .groups(counted, (json) => [
      json["paymentDate"],
      re.part(json, "paymentMethod")["id"],
      json["documentType"],
      b.currencyOf(books, json),
    ])
    .map(([[day = "", method, type = "", currency = ""], all]) => ({
      payment_date: day,
      payment_method_id: Number(method),
      payment_method: b.nameIn(books, "payment_methods", Number(method)),
      document_type: type,
      currency,
      payments: all.length,
      ...added("amount", all, "amount"),
    }));
}

export const salesOracles: Readonly<Record<string, Oracle>> = {
  v_revenue_by_month: revenueBy("month"),
  v_revenue_by_year: revenueBy("year"),
  v_receivables: receivables,
  v_open_invoices: openInvoices,
  v_client_balance: clientBalance,
  v_client_summary: clientSummary,
  v_payments_by_day: paymentsByDay,
};
