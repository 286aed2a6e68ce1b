import { dateOf, dayOf } from "../base/calendar.ts";
import { divide } from "../base/decimal-money.ts";
import { seededRandom } from "../base/seeded-random.ts";
import { documentsOf } from "../domain/company-state.ts";
import { totalsOf } from "../domain/documents/document-totals.ts";
import { payableKinds } from "../model/catalogue.ts";
import type { Document } from "../model/company-records.ts";
import type { Plan, Seeding } from "./seed-plan.ts";

/** Fills in the payments of all documents. */
export function seedPayments({ plan, company }: Seeding): void {
  for (const kind of payableKinds) {
    let index = 0;
    for (const document of documentsOf(company, kind).values()) {
      const { days, firstPercent } = paymentsOf(plan, document, index++);
      if (days.length === 0) continue;
      const total = totalsOf(document).gross;
      const first = divide(total * BigInt(firstPercent), 100n);
      const invoices = kind === "proforma" ? company.tables.invoices.findBy("proforma", document.id) : [];
      const receipt = invoices.find(({ type }) => type === "payment_receipt");
      const { paymentMethodId, currencyId, currencyRate } = document;
      for (const [turn, day] of days.entries()) {
        company.tables.document_payments.add((id) => ({
          id,
          documentKind: kind,
          documentId: document.id,
          paymentMethodId,
          currencyId,
          currencyRate,
          paymentDate: dateOf(day),
          amountCents: turn === 0 ? first : total - first,
          receiptInvoiceId: receipt?.id ?? null,
        }));
      }
    }
  }
}

/** The days on which a document was paid, and the part of the first payment. */
interface Payments {
  readonly days: readonly number[];
  readonly firstPercent: number;
}

/** Most are paid, in one payment or two; some are not; no payment lies in the future. */
function paymentsOf(plan: Plan, document: Document, index: number): Payments {
  const none = { days: [], firstPercent: 100 };
  const { kind, type, willBePaid, issueDate } = document;
  if (!willBePaid) return none;
  const random = seededRandom(plan.seed, `paid-${kind}`, index);
  const isReceipt = type === "payment_receipt";
  const share = isReceipt ? 0 : random.next();
  const firstDay = dayOf(issueDate) + (isReceipt ? 0 : random.int(1, 25));
  const secondDay = firstDay + random.int(1, 30);
  const firstPercent = random.pick([20, 30, 50, 65]);
  if (firstDay > plan.today || share > 0.86) return none;
  if (share < 0.68) return { days: [firstDay], firstPercent: 100 };
  const both = share < 0.76 && secondDay <= plan.today;
  return { days: both ? [firstDay, secondDay] : [firstDay], firstPercent };
}
