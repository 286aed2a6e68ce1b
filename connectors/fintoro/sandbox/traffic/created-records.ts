import { dateOf } from "../base/calendar.ts";
import { amount, decimal, toNumber } from "../base/decimal-money.ts";
import { iban } from "../base/identifiers.ts";
import { documentsOf } from "../domain/company-state.ts";
import { balanceOf } from "../domain/documents/payment-rules.ts";
import { creditInvoice } from "../domain/documents/document-rules.ts";
import { nextReceiptNumber, type Side } from "../domain/warehouse/receipts.ts";
import { payableKinds, type TableName } from "../model/catalogue.ts";
import type { DocumentKind } from "../model/company-records.ts";
import { Missing } from "../rules/refusals.ts";
import { callNotes, caseTopics, goods, services, slovakWords } from "../seed/sample-words.ts";
import type { Actor } from "./actor.ts";

/** What is sent to create a record of each table. */
const inputs: Readonly<Partial<Record<TableName, (actor: Actor) => unknown>>> = {
  clients: party,
  suppliers: party,
  bank_accounts: account,
  business_case_statuses: ({ random }) => ({
    name: `Stav ${random.int(1, 9_999)}`,
    color: `#${random.hex(6)}`,
  }),
  business_cases: businessCase,
  contact_activity_logs: activityLog,
  warehouses: warehouse,
  warehouse_inbound_receipts: (actor) => inboundReceipt(actor, null),
  warehouse_outbound_receipts: outboundReceipt,
  price_list_items: priceListItem,
  invoices: (actor) => document(actor, actor.random.often(0.3)),
  proformas: document,
  orders: document,
  quotations: document,
  document_payments: partPayment,
};

/**
 * Creates one record of the table, as a person at work would; gives its id.
 *
 * @throws Invalid, Missing where the rules or the company's records do not allow it
 */
export function createRecord(actor: Actor, table: TableName): number {
  if (table === "credit_notes") return creditSomeInvoice(actor);
  const input = inputs[table];
  if (!input) throw new Missing();
  return actor.create(table, input(actor));
}

function party({ random }: Actor) {
  const name = `${random.pick(slovakWords.trades)} ${random.pick(slovakWords.ownNames)} ${random.int(2, 999)}, s. r. o.`;
  const street = `${random.pick(slovakWords.streets)} ${random.int(1, 120)}`;
  const [city, zip] = [random.pick(slovakWords.cities), random.digits(5)];
  return { name, type: "company", street, city, zip, countryId: 703 };
}

function account({ random }: Actor) {
  const swift = "TATRSKBX";
  return { name: `Účet ${random.int(2, 999)}`, iban: iban("SK", "1100", random.digits(10)), swift };
}

function businessCase(actor: Actor) {
  const statusId = actor.find("business_case_statuses");
  return { name: actor.random.pick(caseTopics), clientId: actor.any("clients"), statusId };
}

function activityLog(actor: Actor) {
  const content = actor.random.pick(callNotes);
  if (actor.random.often(0.5)) return { clientId: actor.any("clients"), type: "note", metadata: { content } };
  const metadata = { content, personName: "Eva Nováková", phoneNumber: "+421 900 000 000" };
  return { clientId: actor.any("clients"), type: "phone_call", metadata };
}

function warehouse({ random }: Actor) {
  const code = `S${random.hex(6).toUpperCase()}`;
  return {
    name: `Sklad ${code}`,
    code,
    inboundNumericalSeriesPattern: `P${code}(CCCC)`,
    inboundNumericalSeriesNextNumber: 1,
    outboundNumericalSeriesPattern: `V${code}(CCCC)`,
    outboundNumericalSeriesNextNumber: 1,
  };
}

function priceListItem({ random }: Actor) {
  const [name] = random.pick(goods);
  const stocked = { useWarehouse: true, warehouseCode: `T-${random.hex(8)}` };
  return { name, unitPrice: random.int(100, 9_999) / 100, unitId: 1, vatRate: 23, ...stocked };
}

/** One to four lines of services, and one of goods out of a warehouse where they are wanted and there. */
function document(actor: Actor, withGoods = false) {
  const { random } = actor;
  const items: unknown[] = Array.from({ length: random.int(1, 4) }, () => {
    const [name] = random.pick(services);
    return { name, quantity: random.int(1, 12), unitPrice: random.int(500, 25_000) / 100, vatRate: 23 };
  });
  const stock = withGoods ? someStock(actor) : null;
  if (stock) {
    const { priceListItemId, warehouseId, quantity } = stock;
    items.push({ priceListItemId, quantity, warehouseAllocations: [{ warehouseId, quantity }] });
  }
  return { clientId: actor.any("clients"), items };
}

/** One to five pieces of some item, and the warehouse they are in; null where there is nothing. */
function someStock({ company, random }: Actor) {
  const { price_list_items: items, warehouses } = company.tables;
  const levels = [...items.values()]
    .filter(({ useWarehouse }) => useWarehouse)
    .flatMap(({ id }) =>
      [...company.stock.of(id)].map(([warehouseId, level]) => ({ id, warehouseId, level })),
    )
    .filter(({ level, warehouseId }) => level >= decimal(1) && warehouses.has(warehouseId));
  if (levels.length === 0) return null;
  const { id: priceListItemId, warehouseId, level } = random.pick(levels);
  return { priceListItemId, warehouseId, quantity: random.int(1, Math.min(5, Math.floor(toNumber(level)))) };
}

function receiptHead({ company }: Actor, side: Side, warehouseId: number) {
  const own = company.tables.warehouses.get(warehouseId);
  if (!own) throw new Missing();
  const issueDate = dateOf(company.settings.today);
  return { number: nextReceiptNumber(company, side, own), warehouseId, languageId: 1, issueDate };
}

/** Goods that come in: of one item, or of any that is kept in a warehouse. */
export function inboundReceipt(actor: Actor, itemId: number | null) {
  const { company, random } = actor;
  const stocked = [...company.tables.price_list_items.values()].filter(({ useWarehouse }) => useWarehouse);
  if (itemId === null && stocked.length === 0) throw new Missing();
  const priceListItemId = itemId ?? random.pick(stocked).id;
  const supplierId = actor.find("suppliers");
  const items = [{ priceListItemId, quantity: random.int(1, 40), unitPrice: 1.5, vatRate: 23 }];
  return { ...receiptHead(actor, "inbound", actor.any("warehouses")), supplierId, items };
}

function outboundReceipt(actor: Actor) {
  const stock = someStock(actor);
  if (!stock) throw new Missing();
  const { priceListItemId, quantity, warehouseId } = stock;
  const items = [{ priceListItemId, quantity, unitPrice: 2.5, vatRate: 23 }];
  return { ...receiptHead(actor, "outbound", warehouseId), clientId: actor.any("clients"), items };
}

/** A credit note over a whole invoice. */
function creditSomeInvoice(actor: Actor): number {
  const { company } = actor;
  let noteId = 0;
  actor.withAny("invoices", (id) => {
    const invoice = company.tables.invoices.get(id);
    if (!invoice) throw new Missing();
    noteId = creditInvoice(company, invoice, {}).id;
  });
  return noteId;
}

/** Half of what is left to pay; a rest of one cent whole. */
function partPayment(actor: Actor) {
  const { documentType, documentId, cents } = someUnpaid(actor, payableKinds);
  const half = cents / 2n;
  return { documentType, documentId, amount: amount(half === 0n ? cents : half) };
}

/** A document of these kinds with something left to pay; throws `Missing` where there is none. */
export function someUnpaid({ company, random }: Actor, kinds: readonly DocumentKind[]) {
  const open = kinds.flatMap((documentType) =>
    [...documentsOf(company, documentType).values()].flatMap((one) => {
      const { toBePaid: cents, status } = balanceOf(company, one);
      return cents === 0n || status === "paid" ? [] : [{ documentType, documentId: one.id, cents }];
    }),
  );
  if (open.length === 0) throw new Missing();
  return random.pick(open);
}
