import { seededRandom } from "../base/seeded-random.ts";
import { dateOf } from "../base/calendar.ts";
import { divide } from "../base/decimal-money.ts";
import { totalsOf } from "../domain/documents/document-totals.ts";
import { payableKinds } from "../model/catalogue.ts";
import type { Document, DocumentKind, Payment } from "../model/company-records.ts";
import { firstIdOf, isPaymentReceipt, isWrittenOff, seededDocument, type Books } from "./document-seed.ts";

/** How a document was paid: the days of its payments, and the percent of the first one. */
interface Settlement {
  readonly days: readonly number[];
  readonly firstPercent: number;
}

/** Where the seeded payments of each document lie: payment ids are a running count over all documents. */
export interface PaymentBook {
  readonly count: number;
  /** The half-open range of seeded payment ids of one document. */
  readonly rangeOf: (kind: DocumentKind, documentId: number) => readonly [number, number];
  readonly make: (id: number) => Payment;
}

export function paymentBookOf(books: Books): PaymentBook {
  const first = books.plan.firstIds.document_payments;
  const starts = new Map<DocumentKind, Int32Array>();
  let next = 0;
  for (const kind of payableKinds) {
    const count = books.plan.volumes[kind];
    const column = new Int32Array(count + 1);
    for (let index = 0; index < count; index++) {
      column[index] = next;
      next += settlementOf(books, kind, index).days.length;
    }
    column[count] = next;
    starts.set(kind, column);
  }
  const rangeOf = (kind: DocumentKind, documentId: number): readonly [number, number] => {
    const column = starts.get(kind);
    const index = documentId - firstIdOf(books.plan, kind);
    const from = column?.[index];
    const to = column?.[index + 1];
    return from === undefined || to === undefined ? [0, 0] : [first + from, first + to];
  };
  return { count: next, rangeOf, make: (id) => makePayment(books, starts, id) };
}

function makePayment(books: Books, starts: ReadonlyMap<DocumentKind, Int32Array>, id: number): Payment {
  const position = id - books.plan.firstIds.document_payments;
  const kind = payableKinds.find((candidate) => position < (starts.get(candidate)?.at(-1) ?? 0)) ?? "invoice";
  const column = starts.get(kind) ?? new Int32Array(1);
  const index = ownerOf(column, position);
  const turn = position - (column[index] ?? 0);
  const document = seededDocument(books, kind, firstIdOf(books.plan, kind) + index);
  return tell(books, document, index, turn, id);
}

function tell(books: Books, document: Document, index: number, turn: number, id: number): Payment {
  const settlement = settlementOf(books, document.kind, index);
  const total = totalsOf(document).gross;
  const part = divide(total * BigInt(settlement.firstPercent), 100n);
  return {
    id,
    documentKind: document.kind,
    documentId: document.id,
    paymentMethodId: document.paymentMethodId,
    currencyId: document.currencyId,
    currencyRate: document.currencyRate,
    paymentDate: dateOf(settlement.days[turn] ?? 0),
    amountCents: turn === 0 ? part : total - part,
    receiptInvoiceId: receiptInvoiceOf(books, document, index),
  };
}

function receiptInvoiceOf(books: Books, document: Document, index: number): number | null {
  if (document.kind !== "proforma") return null;
  const invoice = books.links.madeFrom("invoice", "proforma", index);
  return invoice !== null && isPaymentReceipt(books, invoice)
    ? firstIdOf(books.plan, "invoice") + invoice
    : null;
}

/** Old documents are mostly paid, in one payment or two; young ones wait; nothing lies in the future. */
function settlementOf(books: Books, kind: DocumentKind, index: number): Settlement {
  const none = { days: [], firstPercent: 100 };
  if (isWrittenOff(books, kind, index)) return none;
  const random = seededRandom(books.plan.seed, `paid-${kind}`, index);
  const issue = books.timelines[kind].issueDay(index);
  const certain = kind === "invoice" && isPaymentReceipt(books, index);
  const fate = certain ? 0 : random.next();
  const firstDay = issue + (certain ? 0 : random.int(1, 25));
  const secondDay = firstDay + random.int(1, 30);
  const firstPercent = random.pick([20, 30, 50, 65]);
  if (firstDay > books.plan.today || fate > 0.86) return none;
  if (fate < 0.68) return { days: [firstDay], firstPercent: 100 };
  const both = fate < 0.76 && secondDay <= books.plan.today;
  return { days: both ? [firstDay, secondDay] : [firstDay], firstPercent };
}

/** The document whose range holds this position: the last start at or before it that is not empty. */
function ownerOf(column: Int32Array, position: number): number {
  let low = 0;
  let high = column.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((column[middle] ?? 0) <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}
