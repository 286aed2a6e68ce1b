import type { ReportView } from "../../../src/connector/report-view.ts";
import * as c from "./view-columns.ts";
import * as sql from "./view-sql.ts";

const item = [
  c.id("price_list_item_id", "Id in price_list_items"),
  c.text("name", "Of the item"),
  c.text("warehouse_code", "Code of the stock card"),
  c.text("unit", "Unit of measure"),
];

const worth = [
  c.amount("purchase_price", "Without VAT, in EUR"),
  c.amount("value", "Quantity x purchase price, to six decimals; null where no purchase price is known"),
];

const stock: ReportView = {
  name: "v_stock",
  title: "Stock",
  question: "What is on stock, where, and what is it worth?",
  doc: "Every item by warehouse, with its value at the item's purchase price",
  columns: [
    ...item,
    c.id("warehouse_id", "Id in warehouses"),
    c.text("warehouse_name", "Of the warehouse"),
    c.amount("quantity", "In this warehouse"),
    ...worth,
    c.amount("unit_price", "Selling price without VAT"),
  ],
  facets: ["warehouse_name"],
  sort: { column: "value", descending: true },
  sql: `SELECT p.id AS price_list_item_id, p.name AS name, p.warehouse_code AS warehouse_code, u.name AS unit,
  s.warehouse_id AS warehouse_id, coalesce(w.name, s.warehouse_name) AS warehouse_name,
  s.stock_quantity AS quantity, p.purchase_price AS purchase_price,
  round(s.stock_quantity * p.purchase_price, 6) AS value, p.unit_price AS unit_price
FROM price_list_item_stocks s JOIN price_list_items p ON p.id = s.price_list_item_id
  LEFT JOIN units u ON u.id = p.unit_id LEFT JOIN warehouses w ON w.id = s.warehouse_id`,
};

/** The last sale of each item: goods that left a warehouse, or a line of an invoice. An advance sells nothing yet. */
const sold = `SELECT item_id, max(day) AS last_sold FROM (
    SELECT i.price_list_item_id AS item_id, r.issue_date AS day
    FROM warehouse_outbound_receipt_items i JOIN warehouse_outbound_receipts r ON r.id = i.warehouse_outbound_receipt_id
    WHERE i.quantity > 0
    UNION ALL
    SELECT i.price_list_item_id, coalesce(d.delivery_date, d.issue_date)
    FROM invoice_items i JOIN invoices d ON d.id = i.invoice_id
    WHERE i.price_list_item_id IS NOT NULL AND i.quantity > 0 AND NOT ${sql.isOfAdvance("invoices")}
  ) GROUP BY item_id`;

const received = `SELECT i.price_list_item_id AS item_id, min(r.issue_date) AS first_received, max(r.issue_date) AS last_received
  FROM warehouse_inbound_receipt_items i JOIN warehouse_inbound_receipts r ON r.id = i.warehouse_inbound_receipt_id
  GROUP BY i.price_list_item_id`;

const idle = sql.daysSince("coalesce(s.last_sold, r.first_received)");

const slowStock: ReportView = {
  name: "v_slow_stock",
  title: "Slow and dead stock",
  question: "What lies on stock and does not sell?",
  doc: "Items on stock without a sale for more than 90 days (slow) or a year (dead)",
  columns: [
    ...item,
    c.amount("quantity", "In all warehouses"),
    ...worth,
    c.date("last_sold", "On an invoice (an advance is none) or an outbound receipt; null: never"),
    c.date("last_received", "On an inbound receipt"),
    c.count("idle_days", "Since the last sale, or since it first came if never sold; null: never moved"),
    c.text("state", "slow, dead, or never_moved"),
  ],
  facets: ["state"],
  sort: { column: "value", descending: true },
  sql: `SELECT p.id AS price_list_item_id, p.name AS name, p.warehouse_code AS warehouse_code, u.name AS unit,
  p.stock AS quantity, p.purchase_price AS purchase_price, round(p.stock * p.purchase_price, 6) AS value,
  s.last_sold AS last_sold, r.last_received AS last_received, ${idle} AS idle_days,
  CASE WHEN ${idle} IS NULL THEN 'never_moved' WHEN ${idle} > 365 THEN 'dead' ELSE 'slow' END AS state
FROM price_list_items p LEFT JOIN units u ON u.id = p.unit_id
  LEFT JOIN (${sold}) s ON s.item_id = p.id LEFT JOIN (${received}) r ON r.item_id = p.id
WHERE p.stock > 0 AND coalesce(${idle}, 91) > 90`,
};

const purchasesBySupplier: ReportView = {
  name: "v_purchases_by_supplier",
  title: "Purchases by supplier",
  question: "What did we buy from whom?",
  doc: "Goods that came in, by supplier and currency; receipts carry no rate, so EUR is known for EUR only",
  columns: [
    c.id("supplier_id", "Id in suppliers; null for receipts without one"),
    c.text("supplier_name", "As the supplier is called today; one deleted since, as on one of its receipts"),
    c.currency,
    c.count("receipts", "How many"),
    ...c.amounts("total", "Without VAT", "known for EUR only"),
    ...c.amounts("total_with_vat", "With VAT", "known for EUR only"),
    c.date("first_issue_date", "Of its receipts"),
    c.date("last_issue_date", "Of its receipts"),
  ],
  facets: ["currency"],
  sort: { column: "total", descending: true },
  sql: `SELECT supplier_id, max(supplier_name) AS supplier_name, currency, count(*) AS receipts,
  ${sql.sums("total", "net")}, ${sql.sums("total_with_vat", "gross")},
  min(issue_date) AS first_issue_date, max(issue_date) AS last_issue_date
FROM (SELECT d.supplier_id AS supplier_id, ${sql.partyOf("supplier")} AS seller, coalesce(s.name, d.supplier_name) AS supplier_name,
    ${sql.currencyOf} AS currency, d.issue_date AS issue_date, ${sql.totals(sql.euroRate)}
  FROM ${sql.withCurrency("warehouse_inbound_receipts")} LEFT JOIN suppliers s ON s.id = d.supplier_id)
GROUP BY seller, supplier_id, currency`,
};

export const stockViews = [stock, slowStock, purchasesBySupplier];
