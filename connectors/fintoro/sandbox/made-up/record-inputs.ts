import { dateOf } from "../base/calendar.ts";
import { centsToNumber, decimal, toNumber } from "../base/decimal-money.ts";
import type { SeededRandom } from "../base/seeded-random.ts";
import { each, latin } from "../base/values.ts";
import { czechCrown, czechia, euro } from "../lookups/lookup-lists.ts";
import { activityTargets, payableKinds, targetFields, type TableName } from "../model/catalogue.ts";
import { documentsOf, type Company, type BookRow } from "../model/company.ts";
import { balanceOf } from "../resources/balance.ts";
import { nextReceiptNumber, type Side } from "../resources/stock.ts";
import { present } from "../rules/rules.ts";
import words from "../samples/words.json" with { type: "json" };

export type Actor = ReturnType<typeof actorIn>;

/** A person at work in a company, who chooses records by seeded random. */
export function actorIn(company: Company, random: SeededRandom) {
  /** Some live record that passes the test, old ones far more often than new ones. */
  const find = (table: keyof Company["tables"], test: (row: BookRow) => boolean = () => true) => {
    const rows = company.tables[table];
    for (let tries = 0; tries < 8; tries++) {
      const place = Math.floor(random.next() * random.next() * (rows.nextId - rows.firstId));
      const row = rows.get(rows.firstId + place);
      if (row && test(row)) return row;
    }
    const all = rows.where(test);
    return all.length === 0 ? undefined : random.pick(all);
  };
  /** Throws Missing where no live record passes the test. */
  const any: (...which: Parameters<typeof find>) => BookRow = (...which) => present(find(...which));
  return { company, random, find, any };
}

/** What a person sends to create a record of each table; its first ones (`turn`) are the usual. @throws Missing */
export const newRecords: Readonly<Partial<Record<TableName, (actor: Actor, turn: number) => unknown>>> = {
  // A party with preferences and an address for deliveries, or without.
  clients: ({ random }, turn) => {
    const party = partyInput(random, turn);
    const { street, city: deliveryCity, zip: deliveryZip } = random.pick(words.parties);
    const deliveryStreet = `${street} ${random.int(1, 999)}`;
    const delivery = { deliveryStreet, deliveryCity, deliveryZip, deliveryCountryId: party.countryId };
    const habits = words.habits[String(party.countryId) as keyof typeof words.habits];
    return { ...party, ...(random.often(0.15) && delivery), ...habits, ...random.pick(words.preferences) };
  },
  suppliers: ({ random }, turn) => partyInput(random, turn + 30),
  bank_accounts: ({ random }, turn) =>
    words.accounts[turn] ?? { ...words.accounts[0], name: `Účet ${turn}`, iban: `SK00${random.digits(20)}` },
  business_case_statuses: ({ random }, turn) =>
    words.statuses[turn] ?? { name: `Stav ${turn}`, color: `#${random.digits(6, 16)}` },
  // Three of four cases are of clients; they are spread over the statuses and over none.
  business_cases: (actor, turn) => {
    const { random, company } = actor;
    const topic = words.caseTopics[turn % words.caseTopics.length] ?? "";
    const statuses = [...company.tables.business_case_statuses.values()];
    return {
      ...(turn % 4 === 3 ? { supplierId: actor.any("suppliers").id } : { clientId: actor.any("clients").id }),
      name: turn < words.caseTopics.length ? topic : `${topic} ${turn + 1}`,
      description: random.often(0.5) ? random.pick(words.notes) : null,
      statusId: statuses[turn % (statuses.length + 1)]?.id ?? null,
    };
  },
  contact_activity_logs: (actor, turn) =>
    activityInput(actor, ["note", "email", "phone_call"][turn % 3] ?? "note"),
  warehouses: (_, turn) =>
    words.warehouses[turn] ?? {
      ...words.warehouses[0],
      name: `Sklad ${turn}`,
      code: `S${turn}`,
      inboundNumericalSeriesPattern: `PR-S${turn}-(CCCCC)`,
      outboundNumericalSeriesPattern: `VY-S${turn}-(CCCCC)`,
    },
  warehouse_inbound_receipts: (actor) => inboundInput(actor),
  warehouse_outbound_receipts: (actor) => {
    const { priceListItemId, quantity, warehouseId } = someStock(actor);
    return outboundInput(actor, warehouseId, [{ priceListItemId, quantity, unitPrice: 2.5, vatRate: 23 }]);
  },
  // From its second turn on a sample has a number and another price.
  price_list_items: ({ random }, turn) => {
    const { name, unitPrice, ...item } = words.items[turn % words.items.length]!;
    const isFirst = turn < words.items.length;
    const mark = String(turn + 1);
    const stocked = { ean: `858${mark.padStart(10, "0")}`, warehouseCode: `SKL-${mark.padStart(4, "0")}` };
    return {
      ...item,
      ...(item.useWarehouse && stocked),
      name: isFirst ? name : `${name} ${mark}`,
      unitPrice: isFirst ? unitPrice : Math.round(unitPrice * random.int(60, 160)) / 100,
    };
  },
  ...each("invoices proformas orders quotations", dealInput),
  credit_notes: (actor) => {
    const { id: invoiceId, items, currencyId, languageId } = actor.any("invoices");
    // The item of the price list may be gone since.
    const taken = items.map((line) => ({ ...line, priceListItemId: null, unitPrice: -line.unitPrice }));
    return { invoiceId, currencyId, languageId, items: taken };
  },
  // Half of what is left to pay of some document; a rest of one cent whole.
  document_payments: ({ company, random }) => {
    const open = payableKinds.flatMap((documentType) =>
      [...documentsOf(company, documentType).values()].flatMap((one) => {
        const { toBePaid, status } = balanceOf(company, one);
        if (toBePaid === 0n || status === "paid") return [];
        return [{ documentType, documentId: one.id, amount: centsToNumber(toBePaid / 2n || toBePaid) }];
      }),
    );
    return open.length === 0 ? present(undefined) : random.pick(open);
  },
  webhook_subscriptions: (_, turn) => words.subscriptions[turn % words.subscriptions.length],
};

/** What is sent to create a supplier: from its second turn on a sample has a number. Ids are of nobody. */
function partyInput(random: SeededRandom, turn: number) {
  const { isPerson = false, vat, ...party } = words.parties[turn % words.parties.length]!;
  const sample = { ...party, street: `${party.street} ${random.int(1, 999)}` };
  const round = Math.floor(turn / words.parties.length);
  const name = round === 0 ? sample.name : `${sample.name} ${round + 1}`;
  const domain = latin(sample.name).replace(/[^a-z0-9]+/g, "");
  const email = random.often(0.8) ? `fakturacie${random.int(1, 9_999)}@${domain || "firma"}.example` : null;
  if (isPerson) return { ...sample, type: "person", name, email };
  const [subjectId, taxId] = [random.digits(8), `20${random.digits(8)}`];
  return { ...sample, type: "company", name, email, subjectId, taxId, vatId: vat ? vat + taxId : null };
}

/** A CRM event of a case, a client or a supplier; another one where there is no document to link. */
export function activityInput(actor: Actor, type: string) {
  const { random } = actor;
  const field = random.pick(targetFields);
  const owner = { [field]: actor.any(activityTargets[field]).id };
  const invoice = type === "document_linked" ? actor.find("invoices") : undefined;
  if (invoice) return { ...owner, type, metadata: { documentType: "invoice", documentId: invoice.id } };
  const samples = words.activities.filter((one) => one.type === type);
  return { ...owner, ...random.pick(samples.length > 0 ? samples : words.activities) };
}

/** Who buys what, at today's VAT rates: what documents have in common that are made from each other. */
export function dealInput(actor: Actor) {
  const { random } = actor;
  const client = actor.any("clients");
  const isForeign = [czechia, 40, 276].includes(client.countryId ?? 0);
  const transferTaxLiability = client.isVatPayer && (isForeign || random.often(0.02));
  const items = Array.from({ length: random.often(0.02) ? 8 : random.int(1, 4) }, () => lineInput(actor));
  const currencyId = random.often(0.75) ? (client.preferredCurrencyId ?? euro) : euro;
  const [account, crowns = account] = actor.company.tables.bank_accounts.values();
  return {
    clientId: client.id,
    currencyId,
    bankAccountId: (currencyId === czechCrown ? crowns : account)?.id,
    languageId: client.preferredLanguageId ?? 1,
    transferTaxLiability,
    ...discountInput(random, 0.1, (items[0]?.unitPrice ?? 0) * (items[0]?.quantity ?? 0)),
    ...(random.often(0.3) && { paymentMethodId: random.int(1, 6) }),
    note: random.often(0.25) ? random.pick(words.notes) : null,
    textAboveItems: random.often(0.2) ? "Fakturujeme Vám na základe objednávky:" : null,
    items: items.map((item) => ({ ...item, vatRate: transferTaxLiability ? 0 : item.vatRate })),
  };
}

function lineInput(actor: Actor) {
  const { random } = actor;
  const listed = random.often(0.65) ? actor.find("price_list_items") : undefined;
  const service = random.pick(words.services);
  const { name, unitId, vatRate } = listed ?? service;
  const unitPrice = listed?.unitPrice ?? Math.round(service.unitPrice * 100 + random.int(0, 500)) / 100;
  const quantity = random.often(0.7) ? random.int(1, 12) : random.int(100, 40_000) / 1000;
  return {
    priceListItemId: listed?.id ?? null,
    name,
    description: random.often(0.2) ? `Obdobie ${random.int(1, 12)}/${random.int(1, 4)}. štvrťrok` : null,
    unitId,
    unitPrice,
    quantity,
    vatRate,
    ...discountInput(random, 0.12, unitPrice * quantity),
  };
}

/** A fixed discount only where it is small beside what it lowers, so that no sum changes its sign. */
function discountInput(random: SeededRandom, probability: number, worth: number) {
  if (!random.often(probability)) return {};
  return worth > 40 && random.often(0.4)
    ? { discountType: "fixed", discountValue: random.pick([1, 2.5, 9.99]) }
    : { discountType: "percentage", discountValue: random.pick([3, 5, 10, 12.5, 33.33]) };
}

/** One to five pieces of some item, and the warehouse they are in. @throws Missing */
function someStock({ company, random }: Actor) {
  const levels = company.tables.price_list_items
    .where(({ useWarehouse }) => useWarehouse)
    .flatMap(({ id: priceListItemId }) =>
      Array.from(company.stock.get(priceListItemId) ?? [], ([warehouseId, level]) => {
        return { priceListItemId, warehouseId, level };
      }),
    )
    .filter(({ warehouseId, level }) => level >= decimal(1) && company.tables.warehouses.get(warehouseId));
  const { level, ...found } = present(levels.length === 0 ? undefined : random.pick(levels));
  return { ...found, quantity: random.int(1, Math.min(5, Math.floor(toNumber(level)))) };
}

function receiptHead({ company, random }: Actor, side: Side, warehouse: BookRow) {
  const number = nextReceiptNumber(company, side, warehouse);
  const note = random.often(0.2) ? "Chýba dodací list; doplniť." : null;
  return { number, warehouseId: warehouse.id, languageId: 1, issueDate: dateOf(company.today), note };
}

/** Goods that come in: of this item, or of some that are kept in a warehouse. */
export function inboundInput(actor: Actor, item?: BookRow) {
  const { random } = actor;
  const stocked = () => actor.any("price_list_items", ({ useWarehouse }) => useWarehouse);
  const items = item ? [item] : [...new Set(Array.from({ length: random.int(1, 4) }, stocked))];
  return {
    ...receiptHead(actor, "inbound", actor.any("warehouses")),
    supplierId: random.often(0.9) ? (actor.find("suppliers")?.id ?? null) : null,
    items: items.map(({ id, purchasePrice, vatRate }) => {
      return { priceListItemId: id, quantity: random.int(5, 120), unitPrice: purchasePrice ?? 1.5, vatRate };
    }),
  };
}

/** Goods that go out of a warehouse, to a client. */
export function outboundInput(actor: Actor, warehouseId: number, items: readonly object[]) {
  const warehouse = present(actor.company.tables.warehouses.get(warehouseId));
  const clientId = actor.random.often(0.9) ? (actor.find("clients")?.id ?? null) : null;
  return { ...receiptHead(actor, "outbound", warehouse), clientId, items };
}
