import { z } from "zod";
import { toNumber } from "../base/decimal-money.ts";
import { latin } from "../base/values.ts";
import { lookup } from "../lookups/lookup-lists.ts";
import type { Party } from "../model/company-records.ts";
import type { Receipt } from "../model/warehouse-records.ts";
import { refuse } from "../rules/refusals.ts";
import { parse, queryFlag, queryInt, queryNumber, queryOneOf, queryText } from "../rules/request-shape.ts";
import { itemPreview, itemView } from "../view/stock-view.ts";
import { isWithin, recordList } from "./record-list.ts";
import type { Call } from "./router.ts";

const tenPerPage = { most: 200, usual: 10 };
const byTimes = {
  createdAt: ({ createdAtMs }: { readonly createdAtMs: number }) => createdAtMs,
  updatedAt: ({ updatedAtMs }: { readonly updatedAtMs: number }) => updatedAtMs,
};
const byParty = {
  name: ({ name }: Party) => latin(name),
  city: ({ city }: Party) => latin(city ?? ""),
  zip: ({ zip }: Party) => latin(zip ?? ""),
};

/** Does the record have every value that is asked for? */
function equalsIn<T>(record: T, wanted: Partial<T>): boolean {
  return Object.entries(wanted).every(
    ([key, value]) => value === undefined || record[key as keyof T] === value,
  );
}

/** Searches name, city, ZIP and country, without regard to case and accents. */
function mentions({ language }: Call, search = ""): (party: Party) => boolean {
  const wanted = latin(search);
  return ({ name, city, zip, countryId }) => {
    const country = countryId === null ? null : lookup("countries", countryId, language);
    return [name, city, zip, country?.["name"]].some((word) => latin(String(word ?? "")).includes(wanted));
  };
}

export const listClients = recordList({
  table: "clients",
  sorts: { ...byParty, countryId: ({ countryId }) => countryId ?? 0, ...byTimes },
  usualOrder: ["name", "asc"],
  filters: {
    search: queryText(),
    type: queryOneOf(["person", "company"]),
    subjectId: queryText(),
    taxId: queryText(),
    vatId: queryText(),
    countryId: queryInt(),
  },
  test: ({ search, ...equal }, call) => {
    const found = mentions(call, search);
    return (client) => equalsIn(client, equal as Partial<typeof client>) && found(client);
  },
});

export const listSuppliers = recordList({
  table: "suppliers",
  sorts: { ...byParty, ...byTimes },
  usualOrder: ["name", "asc"],
  filters: { search: queryText() },
  test: ({ search }, call) => mentions(call, search),
});

/** Without `sortBy` the newest id comes first; `id` itself is not a value that `sortBy` takes. */
export const listCases = recordList({
  table: "business_cases",
  sorts: { name: ({ name }) => latin(name), ...byTimes, boardPosition: ({ boardPosition }) => boardPosition },
  usualOrder: ["id", "desc"],
  filters: {
    clientId: queryInt(),
    supplierId: queryInt(),
    /** An empty one asks for cases without a status. */
    statusId: z.preprocess((sent) => (sent === "" ? undefined : sent), queryInt()).optional(),
    search: queryText(255),
  },
  pageSize: tenPerPage,
  test: ({ clientId, supplierId, statusId, search = "" }, { query }) => {
    if (clientId !== undefined && supplierId !== undefined)
      refuse("supplierId", "not_together", { other: "clientId" });
    const status = query["statusId"] === "" ? null : statusId;
    const contact = clientId ?? supplierId;
    const type = clientId === undefined ? "supplier" : "client";
    return (item) =>
      (contact === undefined || (item.contactType === type && item.contactId === contact)) &&
      (status === undefined || item.statusId === status) &&
      latin(`${item.name}\n${item.description ?? ""}`).includes(latin(search));
  },
});

function receiptList(
  table: "warehouse_inbound_receipts" | "warehouse_outbound_receipts",
  partner: "supplierId" | "clientId",
) {
  const partnerQuery = z.object({ [partner]: queryInt() });
  return recordList({
    table,
    sorts: {
      number: ({ number }: Receipt) => number,
      issue_date: ({ issueDate }: Receipt) => issueDate,
      created_at: byTimes.createdAt,
      updated_at: byTimes.updatedAt,
    },
    usualOrder: ["created_at", "desc"],
    filters: { warehouseId: queryInt(), number: queryText() },
    pageSize: tenPerPage,
    test: ({ warehouseId, number = "" }, { query }) => {
      const { [partner]: partnerId } = parse(partnerQuery, query);
      return (receipt) => equalsIn(receipt, { warehouseId, partnerId }) && receipt.number.includes(number);
    },
  });
}

export const listInbound = receiptList("warehouse_inbound_receipts", "supplierId");
export const listOutbound = receiptList("warehouse_outbound_receipts", "clientId");

export const listItems = recordList({
  table: "price_list_items",
  sorts: {
    name: ({ name }) => latin(name),
    unit_price: ({ unitPrice }) => unitPrice,
    stock: ({ id }, { stock }) => toNumber(stock.total(id)),
  },
  usualOrder: ["name", "asc"],
  changingSort: "stock",
  filters: {
    name: queryText(255),
    priceFrom: queryNumber(),
    priceTo: queryNumber(),
    stockFrom: queryNumber(),
    stockTo: queryNumber(),
    onlyWarehouseItems: queryFlag(),
  },
  pageSize: { most: 200, usual: 50 },
  view: (company, item, language) =>
    (company.settings.stocksInLists ? itemView : itemPreview)(company, item, language),
  test: (wanted, { company }) => {
    const text = latin(wanted.name ?? "");
    return ({ id, name, warehouseCode, ean, unitPrice, useWarehouse }) =>
      [name, warehouseCode, ean].some((word) => latin(word ?? "").includes(text)) &&
      isWithin(unitPrice, wanted.priceFrom, wanted.priceTo) &&
      isWithin(toNumber(company.stock.total(id)), wanted.stockFrom, wanted.stockTo) &&
      (wanted.onlyWarehouseItems !== true || useWarehouse);
  },
});
