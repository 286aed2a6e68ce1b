import { seededRandom, type SeededRandom } from "../base/seeded-random.ts";
import { momentOf } from "../base/calendar.ts";
import { amount } from "../base/decimal-money.ts";
import { totalsOf } from "../domain/documents/document-totals.ts";
import type { ActivityLog, ActivityMetadata, ActivityTarget, Attachment } from "../model/company-records.ts";
import { clientIdAt, firstIdOf, seededDocument, type Books } from "./document-seed.ts";
import { callNotes, oddNotes } from "./sample-words.ts";

const types = [
  "note",
  "email",
  "phone_call",
  "document_linked",
  "document_created",
  "note",
  "document_updated",
  "email",
  "document_deleted",
  "phone_call",
  "document_payment_added",
  "note",
];

/** Whom a seeded log belongs to; cheap, because lists group by it. */
export function seededTarget(books: Books, id: number): ActivityTarget {
  const { plan } = books;
  const index = id - plan.firstIds.contact_activity_logs;
  const random = seededRandom(plan.seed, "target", index);
  if (isAboutDocument(books, index)) {
    return { kind: "client", id: clientIdAt(books, "invoice", documentIndex(books, index)) };
  }
  const where = random.next();
  const { business_cases: cases, clients, suppliers } = plan.volumes;
  if (where < 0.45) return { kind: "businessCase", id: plan.firstIds.business_cases + random.skewed(cases) };
  if (where < 0.8) return { kind: "client", id: plan.firstIds.clients + random.skewed(clients) };
  return { kind: "supplier", id: plan.firstIds.suppliers + random.skewed(suppliers) };
}

export function seededLog(books: Books, id: number): ActivityLog {
  const { plan } = books;
  const index = id - plan.firstIds.contact_activity_logs;
  const random = seededRandom(plan.seed, "log", index);
  const type = typeOf(books, index);
  const span = plan.today - 1 - plan.firstDay;
  const day = plan.firstDay + Math.floor(((index + 1) / plan.volumes.contact_activity_logs) * span);
  const createdAtMs = momentOf(day, random.int(420, 1200)) + random.int(0, 59) * 1000;
  const attached = !type.startsWith("document") && index % 4 === 0;
  return {
    id,
    type,
    target: seededTarget(books, id),
    metadata: metadataOf(books, type, index, random),
    attachments: attached ? attachmentsOf(id, random) : [],
    createdAtMs,
    updatedAtMs: createdAtMs + (random.often(0.2) ? 3_600_000 : 0),
  };
}

function typeOf(books: Books, index: number): string {
  const type = types[index % types.length] ?? "note";
  return type.startsWith("document") && books.plan.volumes.invoice === 0 ? "note" : type;
}

function isAboutDocument(books: Books, index: number): boolean {
  return typeOf(books, index).startsWith("document");
}

function documentIndex(books: Books, index: number): number {
  return seededRandom(books.plan.seed, "about", index).int(0, books.plan.volumes.invoice - 1);
}

function metadataOf(books: Books, type: string, index: number, random: SeededRandom): ActivityMetadata {
  const content = random.often(0.15) ? random.pick(oddNotes) : random.pick(callNotes);
  if (type === "note") return { content };
  if (type === "email") return { content, email: `kontakt${random.int(1, 500)}@example.com` };
  if (type === "phone_call") {
    return {
      content,
      personName: "Ing. Žofia Ďuricová",
      phoneNumber: random.often(0.8) ? `+421 9${random.digits(8)}` : null,
    };
  }
  return documentMetadata(books, type, index);
}

function documentMetadata(books: Books, type: string, index: number): ActivityMetadata {
  const id = firstIdOf(books.plan, "invoice") + documentIndex(books, index);
  const invoice = seededDocument(books, "invoice", id);
  const about = { documentKind: "invoice", documentId: id } as const;
  const price = amount(totalsOf(invoice).gross);
  const snapshots = { numberSnapshot: invoice.number, currencySnapshotId: invoice.currencyId };
  if (type === "document_linked") return about;
  if (type === "document_payment_added")
    return { ...about, paidAmount: price, currencySnapshotId: invoice.currencyId };
  return type === "document_deleted"
    ? { ...about, ...snapshots }
    : { ...about, ...snapshots, priceSnapshot: price };
}

function attachmentsOf(logId: number, random: SeededRandom): Attachment[] {
  const files = [
    ["zápisnica č. 1.txt", "text/plain", "Dohodnuté: dodanie do 14 dní.\n"],
    ["ponuka (final).csv", "text/csv", "názov;cena\nCement;5,49\n"],
    ["foto.svg", "image/svg+xml", '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>'],
  ] as const;
  return files.slice(0, random.int(1, 3)).map(([name, mimeType, content], position) => ({
    id: logId * 4 + position,
    name,
    mimeType,
    content: Buffer.from(content),
  }));
}
