import { dateOf, yearOf } from "../base/calendar.ts";
import { centsToNumber, decimal, toNumber } from "../base/decimal-money.ts";
import { ean13, iban } from "../base/identifiers.ts";
import type { SeededRandom } from "../base/seeded-random.ts";
import { everyKey } from "../base/values.ts";
import { czechCrown, czechia, euro } from "../lookups/lookups.ts";
import { payableKinds, type TableName } from "../model/catalogue.ts";
import { documentsOf, type Company } from "../model/company.ts";
import type { Row } from "../model/row.ts";
import { balanceOf } from "../resources/balance.ts";
import { nextReceiptNumber, type Side } from "../resources/stock.ts";
import { Missing, present } from "../rules/rules.ts";
import { clientInput, partyInput } from "../samples/parties.ts";
import * as words from "../samples/sample-words.ts";

/** A person at work in a company, who chooses records by seeded random. */
export class Actor {
  readonly company: Company;
  readonly random: SeededRandom;

  constructor(company: Company, random: SeededRandom) {
    this.company = company;
    this.random = random;
  }

  /** Some live record that passes the test, old ones far more often than new ones. */
  find(table: keyof Company["tables"], test: (row: Row) => boolean = () => true): Row | undefined {
    const rows = this.company.tables[table];
    for (let tries = 0; tries < 8; tries++) {
      const place = Math.floor(this.random.next() * this.random.next() * (rows.nextId - rows.firstId));
      const row = rows.get(rows.firstId + place);
      if (row && test(row)) return row;
    }
    const all = rows.where(test);
    return all.length === 0 ? undefined : this.random.pick(all);
  }

  /** @throws Missing where no live record passes the test */
  any(table: keyof Company["tables"], test?: (row: Row) => boolean): Row {
    return present(this.find(table, test));
  }
}

/** What is sent to create a record; `turn` is the number of the record, and small ones make the usual records. */
type MakeInput = (actor: Actor, turn: number) => unknown;

/** What a person sends to create a record of each table. @throws Missing where what it needs is not there */
export const newRecords: Readonly<Partial<Record<TableName, MakeInput>>> = {
  clients: ({ random }, turn) => clientInput(random, turn),
  suppliers: ({ random }, turn) => partyInput(random, turn + 3, 0.1),
  bank_accounts: ({ random }, turn) => {
    const known = words.bankAccounts[turn];
    const [name, bankId, country, bank, swift] = known ?? [`Účet ${turn}`, 23, "SK", "1100", "TATRSKBX"];
    return { name, bankId, iban: iban(country, bank, random.digits(10)), swift };
  },
  business_case_statuses: ({ random }, turn) => {
    const [name, color] = words.statuses[turn] ?? [`Stav ${turn}`, `#${random.digits(6, 16)}`];
    return { name, color };
  },
  business_cases: newCase,
  contact_activity_logs: (actor, turn) =>
    activityInput(actor, ["note", "email", "phone_call"][turn % 3] ?? "note"),
  warehouses: (_, turn) => {
    const [name, code] = words.warehouseNames[turn] ?? [`Sklad ${turn}`, `S${turn}`];
    return {
      name,
      code,
      inboundNumericalSeriesPattern: `PR-${code}-(RR)(CCCCC)`,
      inboundNumericalSeriesNextNumber: 1,
      outboundNumericalSeriesPattern: `VY-${code}-(RR)(CCCCC)`,
      outboundNumericalSeriesNextNumber: 1,
    };
  },
  warehouse_inbound_receipts: (actor) => inboundInput(actor, null),
  warehouse_outbound_receipts: outboundInput,
  price_list_items: newItem,
  invoices: dealInput,
  proformas: dealInput,
  orders: dealInput,
  quotations: dealInput,
  document_payments: partPayment,
  webhook_subscriptions: (_, turn) => ({ ...words.subscriptions[turn], isActive: false }),
};

/** Three of four cases are of clients; they are spread over the statuses and over none. */
function newCase(actor: Actor, turn: number) {
  const { random, company } = actor;
  const topic = words.caseTopics[turn % words.caseTopics.length] ?? "";
  const statuses = [...company.tables.business_case_statuses.values()];
  const budget = `Prvý kontakt na výstave.\nRozpočet do ${random.int(1, 90)} 000 €.`;
  return {
    ...(turn % 4 === 3 ? { supplierId: actor.any("suppliers").id } : { clientId: actor.any("clients").id }),
    name: turn < words.caseTopics.length ? topic : `${topic} ${turn + 1}`,
    description: random.often(0.5) ? budget : null,
    statusId: statuses[turn % (statuses.length + 1)]?.id ?? null,
  };
}

/** A CRM event of a case, a client or a supplier; a note where there is no document to link. */
export function activityInput(actor: Actor, type: string) {
  const { random } = actor;
  const target = random.pick(["business_cases", "clients", "suppliers"] as const);
  const field = { business_cases: "businessCaseId", clients: "clientId", suppliers: "supplierId" }[target];
  const owner = { [field]: actor.any(target).id };
  const content = random.often(0.15) ? random.pick(words.oddNotes) : random.pick(words.callNotes);
  const invoice = type === "document_linked" ? actor.find("invoices") : undefined;
  if (invoice) return { ...owner, type, metadata: { documentType: "invoice", documentId: invoice.id } };
  if (type === "email")
    return { ...owner, type, metadata: { content, email: `kontakt${random.int(1, 500)}@example.com` } };
  if (type !== "phone_call") return { ...owner, type: "note", metadata: { content } };
  const phoneNumber = random.often(0.8) ? `+421 9${random.digits(8)}` : null;
  return { ...owner, type, metadata: { content, personName: "Ing. Žofia Ďuricová", phoneNumber } };
}

/** The Slovak VAT rate of a year for today's rate: 20 and 10 % before 2025. */
export function vatRateIn(year: number, rate: number): number {
  if (year >= 2025 || rate === 0) return rate;
  return rate >= 20 ? 20 : 10;
}

/** What the goods were bought for. */
function purchasePrice(price: number): number {
  return Math.max(1, Math.round(price * 62)) / 100;
}

/** Every fifth item is a service, the rest are goods in stock. */
function newItem({ random, company }: Actor, turn: number) {
  const stocked = turn % 5 !== 4;
  const list = stocked ? words.goods : words.services;
  const [plainName, unitId, cents, rate] = list[turn % list.length] ?? list[0]!;
  const isFirst = turn < list.length;
  const unitPrice = Math.round(isFirst ? cents : cents * (0.6 + random.next())) / 100;
  const name = isFirst ? plainName : `${plainName} ${Math.floor(turn / list.length) + 1}`;
  const vatRate = vatRateIn(yearOf(company.today), rate);
  const bought = stocked || random.often(0.2);
  return {
    name,
    description: random.often(0.3) ? `Katalógové č. ${turn + 1}\n„${name}“` : null,
    unitId,
    unitPrice,
    vatRate,
    ean: stocked && random.often(0.8) ? ean13(turn + 1) : null,
    useWarehouse: stocked,
    warehouseCode: stocked ? `SKL-${String(turn + 1).padStart(4, "0")}` : null,
    enableNegativeStock: stocked && turn % 17 === 3,
    maxStock: stocked && random.often(0.4) ? random.int(20, 500) : null,
    purchasePrice: bought ? purchasePrice(unitPrice) : null,
    purchaseVatRate: bought ? vatRate : null,
  };
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
    note: random.often(0.25) ? random.pick(words.oddNotes) : null,
    textAboveItems: random.often(0.2) ? "Fakturujeme Vám na základe objednávky:" : null,
    items: items.map((item) => ({ ...item, vatRate: transferTaxLiability ? 0 : item.vatRate })),
  };
}

/** A line of the price list or of a service. */
function lineInput(actor: Actor) {
  const { random } = actor;
  const listed = random.often(0.65) ? actor.find("price_list_items") : undefined;
  const [service, serviceUnit, cents, serviceRate] = random.pick(words.services);
  const { name = service, unitId = serviceUnit, vatRate = serviceRate } = listed ?? {};
  const unitPrice = listed?.unitPrice ?? (cents + random.int(0, 500)) / 100;
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

/** One to five pieces of some item, and the warehouse they are in; null where there is nothing. */
function someStock({ company, random }: Actor) {
  const { price_list_items: items, warehouses } = company.tables;
  const levels = items
    .where(({ useWarehouse }) => useWarehouse)
    .flatMap(({ id: priceListItemId }) =>
      [...(company.stock.get(priceListItemId) ?? [])].flatMap(([warehouseId, level]) => {
        const warehouse = warehouses.get(warehouseId);
        return warehouse && level >= decimal(1) ? [{ priceListItemId, warehouse, level }] : [];
      }),
    );
  if (levels.length === 0) return null;
  const { priceListItemId, warehouse, level } = random.pick(levels);
  return { priceListItemId, warehouse, quantity: random.int(1, Math.min(5, Math.floor(toNumber(level)))) };
}

function receiptHead({ company }: Actor, side: Side, warehouse: Row) {
  const issueDate = dateOf(company.today);
  const number = nextReceiptNumber(company, side, warehouse);
  return { number, warehouseId: warehouse.id, languageId: 1, issueDate };
}

/** Goods that come in: of one item, or of any that is kept in a warehouse. */
export function inboundInput(actor: Actor, itemId: number | null) {
  const priceListItemId = itemId ?? actor.any("price_list_items", ({ useWarehouse }) => useWarehouse).id;
  const supplierId = actor.find("suppliers")?.id;
  const items = [{ priceListItemId, quantity: actor.random.int(1, 40), unitPrice: 1.5, vatRate: 23 }];
  return { ...receiptHead(actor, "inbound", actor.any("warehouses")), supplierId, items };
}

function outboundInput(actor: Actor) {
  const stock = someStock(actor);
  if (!stock) throw new Missing();
  const { priceListItemId, quantity, warehouse } = stock;
  const items = [{ priceListItemId, quantity, unitPrice: 2.5, vatRate: 23 }];
  return { ...receiptHead(actor, "outbound", warehouse), clientId: actor.any("clients").id, items };
}

/** Half of what is left to pay of some document; a rest of one cent whole. */
function partPayment({ company, random }: Actor) {
  const open = payableKinds.flatMap((documentType) =>
    [...documentsOf(company, documentType).values()].flatMap((one) => {
      const { toBePaid: cents, status } = balanceOf(company, one);
      return cents === 0n || status === "paid" ? [] : [{ documentType, documentId: one.id, cents }];
    }),
  );
  if (open.length === 0) throw new Missing();
  const { cents, ...document } = random.pick(open);
  return { ...document, amount: centsToNumber(cents / 2n || cents) };
}

/** The field of each table that people change, so that nothing else about the record does. */
export const changedFields: Readonly<Partial<Record<TableName, string>>> = {
  ...everyKey(["clients", "suppliers"], "street"),
  ...everyKey(["bank_accounts", "business_case_statuses", "warehouses"], "name"),
  business_cases: "description",
  contact_activity_logs: "metadata",
  price_list_items: "unitPrice",
  ...everyKey(["warehouse_inbound_receipts", "warehouse_outbound_receipts"], "note"),
  ...everyKey(["invoices", "credit_notes", "proformas", "orders", "quotations"], "note"),
};
