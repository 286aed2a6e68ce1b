import { randomFor, type SeededRandom } from "../base/seeded-random.ts";
import { euro } from "../lookups/currencies.ts";
import { languageById } from "../lookups/languages.ts";
import { czechia, discountLabel } from "../lookups/lookup-lists.ts";
import type { Discount, Document, DocumentKind, Item } from "../model/company-records.ts";
import type { Client, ClientSnapshot } from "../model/contact-records.ts";
import { clientSnapshot } from "../domain/crm/contact-rules.ts";
import { goodOf } from "./warehouse-seed.ts";
import type { Plan, Seeding } from "./seed-plan.ts";
import { oddNotes, services, type VatClass } from "./sample-words.ts";

type Terms = "currencyId" | "languageId" | "transferTaxLiability" | "note" | "textAboveItems";

/** Who buys what: the same for all documents that were made from each other. */
export interface Deal extends Pick<Document, Terms>, Discount {
  readonly client: Client;
  /** One copy for all documents of the client. */
  readonly snapshot: ClientSnapshot;
  readonly lines: readonly DealLine[];
}

/** One line of a deal; its VAT rate follows from the date of the document. */
interface DealLine extends Omit<Item, "id" | "uuid" | "vatRate" | "allocations"> {
  readonly vatClass: VatClass;
}

/** The deal of a document that was not made from another one. */
export function dealOf({ plan, company }: Seeding, kind: DocumentKind, index: number): Deal {
  const buyer = randomFor(plan.seed, `buyer-${kind}`, index).skewed(plan.volumes.clients);
  const client = company.tables.clients.get(plan.firstIds.clients + buyer) as Client;
  const random = randomFor(plan.seed, `deal-${kind}`, index);
  const currencyId = random.often(0.75) ? (client.preferredCurrencyId ?? euro) : euro;
  const languageId = client.preferredLanguageId ?? 1;
  const lines = linesOf(plan, random, languageById(languageId).code);
  return {
    client,
    snapshot: snapshotOf(client),
    currencyId,
    languageId,
    transferTaxLiability: isReverseCharge(client, random),
    ...discountOf(random, 0.1, (lines[0]?.unitPrice ?? 0) * (lines[0]?.quantity ?? 0)),
    note: random.often(0.25) ? random.pick(oddNotes) : null,
    textAboveItems: random.often(0.2) ? "Fakturujeme Vám na základe objednávky:" : null,
    lines,
  };
}

/** One copy for all documents of a client. */
const snapshots = new WeakMap<Client, ClientSnapshot>();

function snapshotOf(client: Client): ClientSnapshot {
  const snapshot = snapshots.get(client) ?? clientSnapshot(client);
  snapshots.set(client, snapshot);
  return snapshot;
}

function isReverseCharge(client: Client, random: SeededRandom): boolean {
  const abroad = client.countryId === czechia || client.countryId === 40 || client.countryId === 276;
  return client.isVatPayer && (abroad || random.often(0.02));
}

function linesOf(plan: Plan, random: SeededRandom, language: string): DealLine[] {
  const count = random.often(0.02) ? 8 : random.int(1, 4);
  return Array.from({ length: count }, () => lineOf(plan, random, language));
}

function lineOf(plan: Plan, random: SeededRandom, language: string): DealLine {
  const listed = plan.volumes.price_list_items > 0 && random.often(0.65);
  const priceListIndex = listed ? random.skewed(plan.volumes.price_list_items) : null;
  const [name, unitId, cents, vatClass] = random.pick(services);
  const service = { name, unitId, priceCents: cents + random.int(0, 500), vatClass };
  const good = priceListIndex === null ? service : goodOf(plan, priceListIndex);
  const unitPrice = good.priceCents / 100;
  const quantity = random.often(0.7) ? random.int(1, 12) : random.int(100, 40_000) / 1000;
  const discount = discountOf(random, 0.12, unitPrice * quantity);
  return {
    name: good.name,
    description: random.often(0.2) ? `Obdobie ${random.int(1, 12)}/${random.int(1, 4)}. štvrťrok` : null,
    unitId: good.unitId,
    unitPrice,
    quantity,
    vatClass: good.vatClass,
    ...discount,
    discountName: discount.discountType === null ? null : discountLabel(language),
    priceListItemId: priceListIndex === null ? null : plan.firstIds.price_list_items + priceListIndex,
  };
}

/** A fixed discount only where it is small beside what it lowers, so that no sum changes its sign. */
function discountOf(random: SeededRandom, probability: number, worth: number): Discount {
  if (!random.often(probability)) return { discountType: null, discountValue: null };
  const isFixed = worth > 40 && random.often(0.4);
  if (isFixed) return { discountType: "fixed", discountValue: random.pick([1, 2.5, 9.99]) };
  return { discountType: "percentage", discountValue: random.pick([3, 5, 10, 12.5, 33.33]) };
}
