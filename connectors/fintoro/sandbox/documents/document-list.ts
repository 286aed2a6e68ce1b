import { decimal, divide } from "../base/decimal-money.ts";
import type { ListRules } from "../collections/record-list.ts";
import { kindFacts } from "../model/catalogue.ts";
import type { Document } from "../model/records.ts";
import { balanceOf, totalsOf } from "./balance.ts";
import { documentPreview } from "./document-view.ts";

/** Cents. */
function grossInEuro(document: Document): number {
  return Number(divide(totalsOf(document).gross * 1_000_000n, decimal(document.currencyRate)));
}

/** The rules of the lists of documents. */
export const documentList: ListRules<Document> = {
  filters: {
    status: ({ answer }, wanted) => answer === wanted,
    paymentStatus: (one, wanted, company) =>
      !kindFacts[one.kind].payable || balanceOf(company, one).status === wanted,
  },
  sorts: {
    total: (document) => Number(totalsOf(document).net),
    totalWithVat: (document) => Number(totalsOf(document).gross),
    totalWithVatEur: grossInEuro,
  },
  usualOrder: ["issueDate", "desc"],
  pageSize: [10, 500],
  preview: documentPreview,
  shufflesTies: true,
};
