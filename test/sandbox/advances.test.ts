import { describe, expect, test } from "vitest";
import type { Dict } from "../support/sandbox/sandbox.ts";
import { centsOf, partsOf, seededBooks, sumOf } from "../support/sandbox/books.ts";

const { table } = seededBooks(1_500);
const receipts = () => table("invoices").filter(({ type }) => type === "payment_receipt");
const receiptOf = (payment: Dict) => (payment["receiptInvoice"] as Dict | null)?.["id"];
const facts = (payment: Dict) =>
  ["paymentDate", "amount", "currencyRate"].map((name) => String(payment[name])).join(" ");

describe("advances", () => {
  test("a receipt is issued and delivered not before its proforma's payments, and shows the same money", () => {
    const advances = table("proformas").flatMap((proforma) => partsOf(proforma, "payments"));
    expect(receipts().length).toBeGreaterThan(50);
    for (const receipt of receipts()) {
      const paid = advances.filter((payment) => receiptOf(payment) === receipt["id"]);
      expect(partsOf(receipt, "payments").map(facts).toSorted()).toEqual(paid.map(facts).toSorted());
      expect(sumOf(paid.map(({ amount }) => centsOf(amount)))).toBe(centsOf(receipt["totalWithVat"]));
      const last = paid
        .map(({ paymentDate }) => String(paymentDate))
        .toSorted()
        .at(-1);
      expect([receipt["deliveryDate"], String(receipt["issueDate"]) >= (last ?? "")]).toEqual([last, true]);
    }
  });

  test("some are without an invoice, some receipts and invoices are credited, some invoices given up", () => {
    const advances = table("proformas").flatMap((proforma) => partsOf(proforma, "payments"));
    const receiptIds = new Set(receipts().map(({ id }) => id));
    const notes = table("credit_notes");
    const cases = [
      advances.filter((payment) => receiptOf(payment) === undefined),
      notes.filter(({ invoiceId }) => receiptIds.has(invoiceId)),
      notes.filter(({ toBePaid }) => Number(toBePaid) < 0),
      notes.filter(({ status }) => status === "paid"),
      table("invoices").filter(({ status }) => status === "will_not_be_paid"),
      table("invoices").filter(({ transferTaxLiability }) => transferTaxLiability === true),
    ];
    for (const [place, found] of cases.entries()) expect([place, found.length > 2]).toEqual([place, true]);
  });
});
