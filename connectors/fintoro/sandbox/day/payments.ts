import { balanceOf } from "../domain/documents/balance.ts";
import { documentsOf, type Company } from "../domain/company-state.ts";
import { creditInvoice } from "../domain/documents/invoice-credit.ts";
import { amount } from "../base/decimal-money.ts";
import { payableKinds } from "../model/catalogue.ts";
import type { DocumentKind } from "../model/company-records.ts";
import { Missing } from "../rules/refusals.ts";
import type { Hand } from "./hand.ts";

/** Takes a whole invoice back. */
export function creditSome(hand: Hand): number {
  let noteId = 0;
  hand.withAny("invoices", (id) => {
    const invoice = hand.company.tables.invoices.get(id);
    if (!invoice) throw new Missing();
    noteId = creditInvoice(hand.company, invoice, {}).id;
  });
  return noteId;
}

/** Half of what is left of some document; what is left of a cent or two in full. */
export function payPart(hand: Hand): number {
  const { kind, id, cents } = openDocument(hand, payableKinds);
  const half = cents / 2n;
  return hand.create("document_payments", {
    documentType: kind,
    documentId: id,
    amount: amount(half === 0n ? cents : half),
  });
}

/** Pays all that is left; throws `Invalid` where nothing is. */
export function payInFull(hand: Hand, kind: DocumentKind, id: number | null): number {
  const documentId = id ?? openDocument(hand, [kind]).id;
  hand.create("document_payments", { documentType: kind, documentId });
  return documentId;
}

function openDocument({ company, chance }: Hand, kinds: readonly DocumentKind[]) {
  const open = kinds.flatMap((kind) => openOf(company, kind));
  if (open.length === 0) throw new Missing();
  return chance.pick(open);
}

function openOf(company: Company, kind: DocumentKind) {
  return [...documentsOf(company, kind).values()]
    .map((document) => ({ kind, id: document.id, balance: balanceOf(company, document) }))
    .filter(({ balance }) => balance.toBePaid !== 0n && balance.status !== "paid")
    .map(({ id, balance }) => ({ kind, id, cents: balance.toBePaid }));
}
