import { momentOf } from "../base/calendar.ts";
import { centsToNumber } from "../base/decimal-money.ts";
import { randomFor, type SeededRandom } from "../base/seeded-random.ts";
import { totalsOf } from "../domain/documents/totals.ts";
import type { ActivityMetadata, ActivityTarget, Attachment, Document } from "../model/company-records.ts";
import { activityTypes, callNotes, caseTopics, files, oddNotes, statusNames } from "./sample-words.ts";
import { fill, type Plan, type Seeding } from "./seed-plan.ts";

/** Fills in the statuses of business cases. */
export function seedStatuses({ plan, company: { tables } }: Seeding): void {
  fill(tables.business_case_statuses, plan.volumes.business_case_statuses, (id, index) => {
    const [name = "", color = ""] = statusNames[index] ?? [];
    return { id, name, color };
  });
}

/** Fills in business cases, three of four with clients, spread over the statuses and over none. */
export function seedCases({ plan, company: { tables } }: Seeding): void {
  const { seed, today, firstIds, volumes } = plan;
  const { business_cases: count, clients, suppliers, business_case_statuses: statuses } = volumes;
  fill(tables.business_cases, count, (id, index) => {
    const random = randomFor(seed, "case", index);
    const isClient = index % 4 !== 3;
    const column = index % (statuses + 1);
    const topic = caseTopics[index % caseTopics.length] ?? "";
    const createdAtMs = momentOf(today - random.int(2, 600), random.int(480, 1000));
    const budget = () => `Prvý kontakt na výstave.\nRozpočet do ${random.int(1, 90)} 000 €.`;
    return {
      id,
      contactType: isClient ? ("client" as const) : ("supplier" as const),
      contactId: isClient
        ? firstIds.clients + Math.floor((index * clients) / count)
        : firstIds.suppliers + (index % suppliers),
      name: index < caseTopics.length ? topic : `${topic} ${index + 1}`,
      description: random.often(0.5) ? budget() : null,
      statusId: column === statuses ? null : firstIds.business_case_statuses + column,
      boardPosition: Math.floor(index / (statuses + 1)) + 1,
      createdAtMs,
      updatedAtMs: createdAtMs + random.int(0, 20) * 3_600_000,
    };
  });
}

/** The types of twelve CRM events in a row. */
const types = activityTypes.split(" ");

/** Fills in CRM events of clients, suppliers and business cases; some are about an invoice. */
export function seedActivities({ plan, company: { tables } }: Seeding): void {
  const { seed, today, firstDay, firstIds, volumes } = plan;
  const { contact_activity_logs: count, invoice: invoices } = volumes;
  fill(tables.contact_activity_logs, count, (id, index) => {
    const random = randomFor(seed, "log", index);
    const wanted = types[index % types.length] ?? "note";
    const isAbout = wanted.startsWith("document") && invoices > 0;
    const type = wanted.startsWith("document") && !isAbout ? "note" : wanted;
    const drawn = isAbout ? randomFor(seed, "about", index).int(0, invoices - 1) : -1;
    const invoice = tables.invoices.get(firstIds.invoices + drawn);
    const day = firstDay + Math.floor(((index + 1) / count) * (today - 1 - firstDay));
    const createdAtMs = momentOf(day, random.int(420, 1200)) + random.int(0, 59) * 1000;
    return {
      id,
      type,
      target: isAbout && invoice ? { kind: "client" as const, id: invoice.clientId } : targetOf(plan, index),
      metadata: metadataOf(type, invoice, random),
      attachments: !isAbout && index % 4 === 0 ? attachmentsOf(id, random) : [],
      createdAtMs,
      updatedAtMs: createdAtMs + (random.often(0.2) ? 3_600_000 : 0),
    };
  });
}

function targetOf({ seed, firstIds, volumes }: Plan, index: number): ActivityTarget {
  const random = randomFor(seed, "target", index);
  const where = random.next();
  if (where < 0.45) {
    return { kind: "businessCase", id: firstIds.business_cases + random.skewed(volumes.business_cases) };
  }
  if (where < 0.8) return { kind: "client", id: firstIds.clients + random.skewed(volumes.clients) };
  return { kind: "supplier", id: firstIds.suppliers + random.skewed(volumes.suppliers) };
}

function metadataOf(type: string, invoice: Document | undefined, random: SeededRandom): ActivityMetadata {
  const content = random.often(0.15) ? random.pick(oddNotes) : random.pick(callNotes);
  if (type === "note") return { content };
  if (type === "email") return { content, email: `kontakt${random.int(1, 500)}@example.com` };
  if (type === "phone_call") {
    const phoneNumber = random.often(0.8) ? `+421 9${random.digits(8)}` : null;
    return { content, personName: "Ing. Žofia Ďuricová", phoneNumber };
  }
  return invoice ? documentMetadata(type, invoice) : {};
}

function documentMetadata(type: string, invoice: Document): ActivityMetadata {
  const about = { documentKind: "invoice", documentId: invoice.id } as const;
  const price = centsToNumber(totalsOf(invoice).gross);
  const currency = { currencySnapshotId: invoice.currencyId };
  if (type === "document_linked") return about;
  if (type === "document_payment_added") return { ...about, ...currency, paidAmount: price };
  const snapshots = { ...about, ...currency, numberSnapshot: invoice.number };
  return type === "document_deleted" ? snapshots : { ...snapshots, priceSnapshot: price };
}

const attached = files.map(([name, mimeType, content]) => ({
  name,
  mimeType,
  content: Buffer.from(content),
}));

function attachmentsOf(logId: number, random: SeededRandom): Attachment[] {
  return attached.slice(0, random.int(1, 3)).map((file, position) => ({ id: logId * 4 + position, ...file }));
}
