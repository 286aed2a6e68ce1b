import { describe, expect, test } from "vitest";
import { testDay, type Dict } from "../support/sandbox/sandbox.ts";
import { centsOf, partsOf, seededBooks, sumOf } from "../support/sandbox/books.ts";

const { books, table } = seededBooks(3_000);
const documentTables = ["invoices", "credit_notes", "proformas", "orders", "quotations"];

/** Half away from zero, on whole numbers, so that no float decides a cent. */
function rounded(numerator: bigint, denominator: bigint): number {
  if (denominator < 0n) return rounded(-numerator, -denominator);
  const half = denominator / 2n;
  return Number(numerator >= 0n ? (numerator + half) / denominator : -((-numerator + half) / denominator));
}

const scaled = (value: unknown, digits: number) => BigInt(Math.round(Number(value) * 10 ** digits));

/** A line's net by itself, out of its price, quantity and discount: in cents. */
function netOf(item: Dict): number {
  return lowered(rounded(scaled(item["unitPrice"], 4) * scaled(item["quantity"], 4), 1_000_000n), item);
}

/** An amount less the discount of its line or document. */
function lowered(full: number, { discountType, discountValue }: Dict): number {
  if (discountType === "percentage")
    return full - rounded(BigInt(full) * scaled(discountValue, 4), 1_000_000n);
  if (discountType === "fixed")
    return full < 0 ? full + centsOf(discountValue) : full - centsOf(discountValue);
  return full;
}

/** A fixed discount lowers the gross in the proportion of the net. */
function loweredGross(document: Dict): number {
  const [net, gross] = [centsOf(document["itemsTotal"]), centsOf(document["itemsTotalWithVat"])];
  if (document["discountType"] !== "fixed") return lowered(gross, document);
  return gross - rounded(BigInt(net - lowered(net, document)) * BigInt(gross), BigInt(net));
}

describe("totals add up to the cent", () => {
  test.each(documentTables)("in every line of %s", (name) => {
    for (const document of table(name)) {
      for (const item of partsOf(document, "items")) {
        const net = netOf(item);
        const vat = rounded(BigInt(net) * scaled(item["vatRate"], 4), 1_000_000n);
        expect(
          [centsOf(item["total"]), centsOf(item["totalWithVat"])],
          `${name} ${String(document["id"])}`,
        ).toEqual([net, net + vat]);
      }
    }
  });

  test.each(documentTables)("in every sum of %s", (name) => {
    for (const document of table(name)) {
      const items = partsOf(document, "items");
      expect(centsOf(document["itemsTotal"])).toBe(sumOf(items.map(({ total }) => centsOf(total))));
      expect(centsOf(document["itemsTotalWithVat"])).toBe(
        sumOf(items.map(({ totalWithVat }) => centsOf(totalWithVat))),
      );
      expect(centsOf(document["total"])).toBe(lowered(centsOf(document["itemsTotal"]), document));
      expect(centsOf(document["totalWithVat"])).toBe(loweredGross(document));
      expect(document["hasVat"]).toBe(items.some(({ vatRate }) => Number(vatRate) > 0));
    }
  });

  test.each(["warehouse_inbound_receipts", "warehouse_outbound_receipts"])(
    "in every receipt of %s",
    (name) => {
      for (const receipt of table(name)) {
        const nets = partsOf(receipt, "items").map((line) =>
          rounded(scaled(line["unitPrice"], 4) * scaled(line["quantity"], 4), 1_000_000n),
        );
        expect(centsOf(receipt["total"])).toBe(sumOf(nets));
      }
    },
  );

  test("no number in any answer has more than two decimals where it is money", () => {
    for (const name of documentTables) {
      for (const document of table(name)) {
        for (const key of ["total", "totalWithVat", "itemsTotal", "itemsTotalWithVat", "toBePaid"]) {
          if (document[key] !== undefined)
            expect(JSON.stringify(document[key])).toMatch(/^-?\d+(\.\d{1,2})?$/);
        }
      }
    }
  });
});

function expectedStatus(document: Dict, left: number, payments: number): string {
  if (left === 0) return "paid";
  if (document["willBePaid"] === false || document["status"] === "will_not_be_paid")
    return "will_not_be_paid";
  if (String(document["dueDate"]) < testDay) return "overdue";
  return payments > 0 ? "partially_paid" : "unpaid";
}

describe("payments and statuses agree", () => {
  test.each(["invoices", "credit_notes", "proformas"])("in every one of %s", (name) => {
    const seen = new Set<unknown>();
    for (const document of table(name)) {
      const payments = partsOf(document, "payments");
      const left = centsOf(document["totalWithVat"]) - sumOf(payments.map(({ amount }) => centsOf(amount)));
      expect(centsOf(document["toBePaid"]), String(document["id"])).toBe(left);
      expect(document["status"]).toBe(expectedStatus(document, left, payments.length));
      for (const { paymentDate } of payments) expect(String(paymentDate) <= testDay).toBe(true);
      seen.add(document["status"]);
    }
    expect(seen.has("paid") && seen.has("overdue") && seen.has("unpaid")).toBe(true);
  });

  test("every payment stands in its document, and none anywhere else", () => {
    const inDocuments = ["invoices", "credit_notes", "proformas"].flatMap((name) =>
      table(name).flatMap((document) => partsOf(document, "payments").map(({ id }) => Number(id))),
    );
    const own = table("document_payments").map(({ id }) => Number(id));
    expect(inDocuments.toSorted((a, b) => a - b)).toEqual(own.toSorted((a, b) => a - b));
    expect(own.length).toBeGreaterThan(1_000);
  });
});

describe("documents are of their time", () => {
  test("ids grow with the day of writing; numbers run without gaps in each year; most dates lie in order", () => {
    for (const name of documentTables) {
      const numbers = table(name).map(({ number }) => String(number));
      expect(new Set(numbers).size).toBe(numbers.length);
      const counters = new Map<string, number>();
      for (const number of numbers) {
        const digits = number.replace(/\D/g, "").slice(name === "quotations" ? 0 : 2);
        const [year, counter] = [digits.slice(0, 2), digits.slice(2)];
        expect(Number(counter), number).toBe((counters.get(year) ?? 0) + 1);
        counters.set(year, Number(counter));
      }
      expect(counters.size).toBe(3);
    }
  });

  test("VAT rates are those of the year: 20 and 10 before 2025, 23, 19 and 5 from then on", () => {
    const rates = { before: new Set<number>(), since: new Set<number>() };
    for (const invoice of table("invoices")) {
      const period = String(invoice["issueDate"]) < "2025" ? "before" : "since";
      for (const { vatRate } of partsOf(invoice, "items")) rates[period].add(Number(vatRate));
    }
    expect([...rates.before].toSorted((a, b) => a - b)).toEqual([0, 10, 20]);
    expect([...rates.since].toSorted((a, b) => a - b)).toEqual([0, 5, 19, 23]);
  });

  test("deliveries precede issue, due dates and validity follow it, nothing is issued after today", () => {
    for (const invoice of table("invoices")) {
      const { issueDate, deliveryDate, dueDate } = invoice as Record<string, string>;
      expect(String(deliveryDate) <= String(issueDate) && String(issueDate) <= String(dueDate)).toBe(true);
      expect(String(issueDate) <= testDay).toBe(true);
    }
    for (const { issueDate, validityDate } of table("quotations"))
      expect(String(validityDate) > String(issueDate)).toBe(true);
  });

  test("rates are 1 for euro and plausible for others", () => {
    const currencies = new Map<unknown, Set<number>>();
    for (const { currencyId, currencyRate } of table("invoices")) {
      currencies.set(currencyId, (currencies.get(currencyId) ?? new Set()).add(Number(currencyRate)));
    }
    expect([...(currencies.get(1) ?? [])]).toEqual([1]);
    for (const rate of currencies.get(5) ?? []) expect(Math.abs(rate - 24.3)).toBeLessThan(1);
    expect(currencies.size).toBeGreaterThan(3);
  });
});

function has(name: string, id: unknown): boolean {
  return books().get(name)?.has(Number(id)) ?? false;
}

describe("chains hold together", () => {
  test("a credit note is negative, of a real invoice, not older than it, for the same client", () => {
    const invoices = books().get("invoices") ?? new Map<number, Dict>();
    for (const note of table("credit_notes")) {
      const invoice = invoices.get(Number(note["invoiceId"])) as Dict;
      expect(Number(note["totalWithVat"])).toBeLessThan(0);
      expect(note["clientId"]).toBe(invoice["clientId"]);
      expect(String(note["issueDate"]) >= String(invoice["issueDate"]).slice(0, 4)).toBe(true);
      expect(Number(invoice["creditNotesSumTotalWithVat"])).toBe(Number(note["totalWithVat"]));
    }
  });

  test("everything that names another record names one that is there", () => {
    for (const name of documentTables) {
      for (const document of table(name)) {
        expect(has("clients", document["clientId"])).toBe(true);
        expect(has("numerical_series", document["numericalSeriesId"])).toBe(true);
        if (document["businessCaseId"] !== null) {
          const item = books().get("business_cases")?.get(Number(document["businessCaseId"]));
          expect([item?.["contactType"], item?.["contactId"]]).toEqual(["client", document["clientId"]]);
        }
      }
    }
    const cases = table("invoices").filter(({ businessCaseId }) => businessCaseId !== null);
    expect(cases.length).toBeGreaterThan(0);
    for (const log of table("contact_activity_logs")) {
      const targets = ["clientId", "supplierId", "businessCaseId"].filter((key) => log[key] !== null);
      expect(targets).toHaveLength(1);
    }
  });
});

describe("the data is as odd as real data", () => {
  test("business ids have their check digit, IBANs their remainder", () => {
    for (const { subjectId, country } of table("clients") as { subjectId: string | null; country: Dict }[]) {
      if (subjectId === null || !["SK", "CZ"].includes(String(country["code"]))) continue;
      const digits = Array.from(subjectId, Number);
      const check = (11 - (sumOf(digits.slice(0, 7).map((digit, i) => digit * (8 - i))) % 11)) % 10;
      expect(digits[7], subjectId).toBe(check);
    }
    for (const { iban } of table("bank_accounts")) {
      const turned = `${String(iban).slice(4)}${String(iban).slice(0, 4)}`;
      const digits = turned.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
      expect(BigInt(digits) % 97n, String(iban)).toBe(1n);
    }
  });

  test("names and notes hold accents, emoji, quotes, new lines, tabs, and what looks like a formula", () => {
    const names = table("clients").map(({ name }) => String(name));
    const notes = table("invoices").map(({ note }) => String(note));
    for (const odd of [
      /^=/,
      /^\+/,
      /^-/,
      /^@/,
      /"/,
      /\p{Emoji_Presentation}/u,
      /[ľščťž]/,
      /\t/,
      /Восток/,
      /<b>/,
      /;/,
    ]) {
      expect(
        names.some((name) => odd.test(name)),
        String(odd),
      ).toBe(true);
    }
    for (const odd of [/\n/, /\r\n/, /^=/, /^\+/])
      expect(
        notes.some((note) => odd.test(note)),
        String(odd),
      ).toBe(true);
  });

  test("all kinds of CRM event occur, some with attachments", () => {
    const logs = table("contact_activity_logs");
    expect(new Set(logs.map(({ type }) => type)).size).toBe(8);
    expect(logs.some((log) => partsOf(log, "attachments").length > 1)).toBe(true);
    const own = new Set(
      logs.map(({ metadata }) =>
        Object.keys(metadata as Dict)
          .toSorted()
          .join(),
      ),
    );
    expect(own).toContain("content,personName,phoneNumber");
    expect(own).toContain(
      "documentCurrencySnapshot,documentNumberSnapshot,documentPriceSnapshot,relatedDocument",
    );
  });

  test("reverse charge, discounts, foreign currencies and every delivery of the trade occur", () => {
    const invoices = table("invoices");
    expect(
      invoices.some(({ transferTaxLiability, hasVat }) => transferTaxLiability === true && hasVat === false),
    ).toBe(true);
    expect(new Set(invoices.map(({ discountType }) => discountType))).toEqual(
      new Set([null, "percentage", "fixed"]),
    );
    expect(new Set(invoices.map(({ status }) => status)).size).toBe(5);
    expect(new Set(table("quotations").map(({ status }) => status)).size).toBe(3);
  });
});
