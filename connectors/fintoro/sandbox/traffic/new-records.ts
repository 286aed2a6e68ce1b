import type { TableName } from "../model/catalogue.ts";
import { Missing } from "../rules/refusals.ts";
import { iban } from "../base/identifiers.ts";
import {
  callNotes,
  caseTopics,
  citiesSk,
  goods,
  ownNames,
  services,
  streetsSk,
  trades,
} from "../seed/sample-words.ts";
import { placeWithStock, stockIn, stockOut } from "./goods.ts";
import type { Hand } from "./actor.ts";
import { creditSome, payPart } from "./paying.ts";

const document = (table: TableName) => (hand: Hand) =>
  hand.create(table, { clientId: hand.any("clients"), items: lines(hand, table) });
const made = (table: TableName, input: (hand: Hand) => unknown) => (hand: Hand) =>
  hand.create(table, input(hand));

const makers: Readonly<Record<TableName, (hand: Hand) => number>> = {
  clients: made("clients", party),
  suppliers: made("suppliers", party),
  bank_accounts: made("bank_accounts", account),
  business_case_statuses: made("business_case_statuses", status),
  business_cases: made("business_cases", openCase),
  contact_activity_logs: made("contact_activity_logs", note),
  warehouses: made("warehouses", warehouse),
  warehouse_inbound_receipts: (hand) => stockIn(hand, null),
  warehouse_outbound_receipts: stockOut,
  price_list_items: made("price_list_items", listed),
  invoices: document("invoices"),
  credit_notes: creditSome,
  proformas: document("proformas"),
  orders: document("orders"),
  quotations: document("quotations"),
  document_payments: payPart,
  webhook_subscriptions: () => {
    throw new Missing();
  },
};

/** Writes one new record of the table, as somebody at work would; gives its id. */
export function writeNew(hand: Hand, table: TableName): number {
  return makers[table](hand);
}

function status({ chance }: Hand) {
  return { name: `Stav ${chance.int(1, 9_999)}`, color: `#${chance.hex(6)}` };
}

function party({ chance }: Hand) {
  const name = `${chance.pick(trades)} ${chance.pick(ownNames)} ${chance.int(2, 999)}, s. r. o.`;
  const street = `${chance.pick(streetsSk)} ${chance.int(1, 120)}`;
  return {
    name,
    type: "company",
    street,
    city: chance.pick(citiesSk),
    zip: chance.digits(5),
    countryId: 703,
  };
}

function account({ chance }: Hand) {
  const swift = "TATRSKBX";
  return { name: `Účet ${chance.int(2, 999)}`, iban: iban("SK", "1100", chance.digits(10)), swift };
}

function openCase(hand: Hand) {
  const statuses = [...hand.company.tables.business_case_statuses.ids()];
  const statusId = statuses.length > 0 ? hand.chance.pick(statuses) : null;
  return { name: hand.chance.pick(caseTopics), clientId: hand.any("clients"), statusId };
}

function note(hand: Hand) {
  const content = hand.chance.pick(callNotes);
  if (hand.chance.often(0.5)) return { clientId: hand.any("clients"), type: "note", metadata: { content } };
  const metadata = { content, personName: "Eva Nováková", phoneNumber: "+421 900 000 000" };
  return { clientId: hand.any("clients"), type: "phone_call", metadata };
}

function warehouse({ chance }: Hand) {
  const code = `S${chance.hex(6).toUpperCase()}`;
  return {
    name: `Sklad ${code}`,
    code,
    inboundNumericalSeriesPattern: `P${code}(CCCC)`,
    inboundNumericalSeriesNextNumber: 1,
    outboundNumericalSeriesPattern: `V${code}(CCCC)`,
    outboundNumericalSeriesNextNumber: 1,
  };
}

function listed({ chance }: Hand) {
  const [name] = chance.pick(goods);
  const stocked = { useWarehouse: true, warehouseCode: `T-${chance.hex(8)}` };
  return { name, unitPrice: chance.int(100, 9_999) / 100, unitId: 1, vatRate: 23, ...stocked };
}

/** One to four lines; an invoice takes some of its goods out of a warehouse. */
function lines(hand: Hand, table: TableName) {
  const { chance } = hand;
  const own = Array.from({ length: chance.int(1, 4) }, () => {
    const [name] = chance.pick(services);
    return { name, quantity: chance.int(1, 12), unitPrice: chance.int(500, 25_000) / 100, vatRate: 23 };
  });
  const place = table === "invoices" && chance.often(0.3) ? placeWithStock(hand) : null;
  if (!place) return own;
  const { priceListItemId, warehouseId, quantity } = place;
  return [...own, { priceListItemId, quantity, warehouseAllocations: [{ warehouseId, quantity }] }];
}
