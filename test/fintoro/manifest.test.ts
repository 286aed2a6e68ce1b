import { describe, expect, it } from "vitest";
import { quickLists } from "../../src/sync/plan/quick-reads.ts";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { resourceNamed, type EventRule } from "../../src/connector/connector-manifest.ts";
import { pathOf, type Resource } from "../../src/connector/resource.ts";
import { allFields, columnsOf } from "../support/connector/connector.ts";

const named = (name: string) => resourceNamed(manifest, name);
const names = manifest.resources.map((one) => one.name);
const eachResource = describe.each(manifest.resources.map((resource) => ({ name: resource.name, resource })));

const columns = (name: string) => new Map(columnsOf(named(name).fields));

const twice = (name: string, column: string) =>
  columnsOf(named(name).fields).filter(([each]) => each === column).length;

const byType = (a: EventRule, b: EventRule) => a.type.localeCompare(b.type);

const origins = (name: string) =>
  Object.fromEntries(allFields(named(name).fields).map(([path, field]) => [path, field.origin]));

/** The contract with people's reports: these tables and no other. */
const tables = [
  "company, banks, countries, languages, currencies, delivery_methods, payment_methods, qr_types, units",
  "numerical_series, clients, suppliers, bank_accounts, business_case_statuses, business_cases",
  "contact_activity_logs, warehouses, warehouse_inbound_receipts, warehouse_outbound_receipts",
  "price_list_items, invoices, credit_notes, proformas, orders, quotations, document_payments",
  "webhook_subscriptions",
].flatMap((line) => line.split(", "));

const childTables = [
  "invoice_items, credit_note_items, proforma_items, order_items, quotation_items",
  "warehouse_inbound_receipt_items, warehouse_outbound_receipt_items, price_list_item_stocks",
  "contact_activity_log_attachments",
].flatMap((line) => line.split(", "));

function childTablesOf(resource: Resource): string[] {
  return allFields(resource.fields).flatMap(([, field]) => (field.shape === "children" ? [field.table] : []));
}

/** Every other resource that a resource's own fields name. */
function pointsTo(resource: Resource): string[] {
  return allFields(resource.fields).flatMap(([, field]) => {
    if (field.shape === "lookup") return [field.resource];
    return field.shape === "scalar" && field.references !== undefined ? [field.references] : [];
  });
}

describe("the tables", () => {
  it("are those of the contract and no other", () => {
    expect(names.toSorted()).toEqual(tables.toSorted());
  });

  it("of arrays are those of the contract and no other", () => {
    expect(manifest.resources.flatMap(childTablesOf).toSorted()).toEqual(childTables.toSorted());
  });
});

describe("a sweep", () => {
  it("comes to what others point to first, so that a key rarely points ahead", () => {
    const ahead = manifest.resources.flatMap((resource, index) =>
      pointsTo(resource)
        .filter((target) => names.indexOf(target) > index)
        .map((target) => `${resource.name} -> ${target}`),
    );
    expect(ahead).toEqual([]);
  });

  it("comes to parents before their child lists, and to owners before what they own", () => {
    for (const { name, list } of manifest.resources) {
      const needs = list.kind === "parents" ? list.parents : list.kind === "owned" ? list.by : [];
      for (const one of needs) expect(names.indexOf(one.resource)).toBeLessThan(names.indexOf(name));
    }
  });

  it("asks for the largest pages the service gives", () => {
    const perPage = Object.fromEntries(
      manifest.resources.flatMap(({ name, list }) => ("perPage" in list ? [[name, list.perPage]] : [])),
    );
    expect(perPage).toEqual({
      business_cases: 200,
      price_list_items: 200,
      warehouse_inbound_receipts: 200,
      warehouse_outbound_receipts: 200,
      contact_activity_logs: 200,
      invoices: 500,
      credit_notes: 500,
      proformas: 500,
      orders: 500,
      quotations: 500,
    });
  });

  it("reads in a quick run only lists that the service offers, by columns that previews show", () => {
    const queries = manifest.resources.flatMap((resource) => {
      const { list, previewFields, fields } = resource;
      const shown = Object.keys(previewFields ?? fields);
      if (list.kind === "paged" && list.quick?.open) expect(shown).toContain(list.quick.open.column);
      return quickLists(resource, 0).map(({ params }) => ({ path: "path" in list ? list.path : "", params }));
    });
    expect(queries).toHaveLength(5 + 3 * 3 + 1 + 1 + 2);
    for (const { path, params } of queries) {
      const operation = manifest.operations.find((one) => one.method === "GET" && one.path === path);
      expect(operation?.query?.safeParse(params).error, path).toBeUndefined();
    }
  });

  it("sorts every paged list ascending by a key, so that new records come last", () => {
    const sorted = manifest.resources.flatMap(({ name, list }) =>
      list.kind === "paged" ? [[name, list.params["sortBy"], list.params["sortDirection"]]] : [],
    );
    expect(sorted).toEqual([
      ["business_cases", undefined, "asc"],
      ["price_list_items", "name", "asc"],
      ["warehouse_inbound_receipts", "created_at", "asc"],
      ["warehouse_outbound_receipts", "created_at", "asc"],
      ...["invoices", "credit_notes", "proformas", "orders", "quotations"].map((one) => [
        one,
        "number",
        "asc",
      ]),
    ]);
  });
});

eachResource("$name", ({ resource }) => {
  it("points only to resources that exist", () => {
    for (const target of pointsTo(resource)) expect(names).toContain(target);
    for (const [, field] of allFields(resource.fields)) {
      if (field.shape === "owned") expect(named(field.resource).list.kind).toBe("owned");
    }
  });

  it("has one meaning for each column", () => {
    const meanings = new Map<string, string>();
    for (const [name, column] of columnsOf(resource.fields)) {
      const meaning = JSON.stringify(column);
      expect(meanings.get(name) ?? meaning, name).toBe(meaning);
      expect(name, "own columns begin with _").toMatch(/^[a-z][a-z0-9_]*$/);
      meanings.set(name, meaning);
    }
  });

  it("keeps the parent's key of its child tables free", () => {
    for (const field of Object.values(resource.fields)) {
      if (field.shape !== "children") continue;
      const own = columnsOf(field.fields).map(([name]) => name);
      expect(own).not.toContain(`${resource.singular}_id`);
      expect(own).not.toContain("position");
    }
  });

  it("has an id, or is the one record of its kind", () => {
    const hasId = Object.hasOwn(resource.fields, "id");
    expect(hasId).toBe(resource.list.kind !== "single");
  });

  it("has previews whose columns are the detail's, of the same type", () => {
    expect(resource.previewFields === undefined).toBe(resource.gives === "full");
    const detail = new Map(columnsOf(resource.fields));
    for (const [name, column] of columnsOf(resource.previewFields ?? {}))
      expect(detail.get(name)).toEqual(column);
  });

  it("uses routes that the service offers, each described once", () => {
    const offered = manifest.operations
      .filter(({ method }) => method === "GET")
      .map(({ path }) => path.replace(/\{.*?\}/, "{id}"));
    const { list, detail, files } = resource;
    const asked = ["path" in list ? list.path : undefined, detail, files?.path].filter(
      (one) => one !== undefined,
    );
    for (const path of asked) expect(offered).toContain(path);
    if (resource.fullWhen) for (const key of resource.fullWhen) expect(resource.fields).toHaveProperty(key);
  });

  it("cannot be changed by who reads it", () => {
    expect(Object.isFrozen(resource)).toBe(true);
    expect(Object.isFrozen(resource.fields)).toBe(true);
  });
});

describe("lists", () => {
  it("of documents give previews, every other list gives full records", () => {
    const previews = manifest.resources.filter((one) => one.gives === "preview").map((one) => one.name);
    expect(previews).toEqual(["invoices", "credit_notes", "proformas", "orders", "quotations"]);
  });

  it("of price list items may lack the stock, and then the record itself is read", () => {
    expect(named("price_list_items").fullWhen).toEqual(["stocks"]);
  });

  it("of series are read once for each kind of document", () => {
    expect(named("numerical_series").list).toEqual({
      kind: "whole",
      path: "/numerical-series",
      variants: {
        param: "documentType",
        values: ["invoice", "proforma", "credit-note", "order", "quotation"],
        field: "documentType",
      },
    });
  });

  it("of CRM events are read for each client, supplier and business case, named by the event's own fields", () => {
    const { list, fields } = named("contact_activity_logs");
    const parents = list.kind === "parents" ? list.parents : [];
    expect(parents.map(({ resource, param }) => `${resource} ?${param}`)).toEqual([
      "clients ?clientId",
      "suppliers ?supplierId",
      "business_cases ?businessCaseId",
    ]);
    for (const parent of parents) expect(fields[parent.field]).toMatchObject({ references: parent.resource });
  });

  it("of payments do not exist: invoices, credit notes and proformas own them", () => {
    const payments = named("document_payments");
    expect(payments.list.kind).toBe("owned");
    const owners = payments.list.kind === "owned" ? payments.list.by : [];
    expect(owners.map(({ resource, type }) => `${resource} ${type}`)).toEqual([
      "invoices invoice",
      "credit_notes credit-note",
      "proformas proforma",
    ]);
    for (const owner of owners) {
      expect(named(owner.resource).fields["payments"]).toMatchObject({
        shape: "owned",
        resource: payments.name,
      });
      expect(payments.fields).toHaveProperty(owner.typeField);
      expect(payments.fields).toHaveProperty(owner.idField);
    }
  });
});

describe("columns that people's reports lean on", () => {
  it("hold a lookup's id under its name, also where the service nests the record", () => {
    expect(columns("document_payments").get("receipt_invoice_id")?.references).toBe("invoices");
    expect(columns("invoices").get("bank_account_id")?.references).toBe("bank_accounts");
    expect(columns("business_cases").get("status_id")?.references).toBe("business_case_statuses");
    expect(columns("warehouse_inbound_receipts").get("warehouse_id")?.references).toBe("warehouses");
    expect(columns("contact_activity_logs").get("metadata_related_document_currency_id")?.references).toBe(
      "currencies",
    );
  });

  it("are one where the service says an id twice", () => {
    expect(twice("invoices", "client_country_id")).toBe(2);
    expect(twice("price_list_items", "unit_id")).toBe(2);
    expect(twice("bank_accounts", "bank_id")).toBe(2);
  });

  it("carry the currency of a preview where the detail has it", () => {
    const preview = new Map(columnsOf(named("orders").previewFields ?? {}));
    expect(preview.get("currency_id")).toEqual(columns("orders").get("currency_id"));
  });
});

/** The interface document's catalogue: the kinds, what happens to them, and what that is about. */
const catalogue: readonly [kind: string, events: string, resourceType: string, table: string | null][] = [
  ["clients", "created, updated, deleted", "client", "clients"],
  ["suppliers", "created, updated, deleted", "supplier", "suppliers"],
  ["bank-accounts", "created, updated, deleted", "bankAccount", "bank_accounts"],
  ["business-case-statuses", "created, updated, deleted", "businessCaseStatus", "business_case_statuses"],
  ["business-cases", "created, updated, deleted", "businessCase", "business_cases"],
  ["contact-activity-logs", "created, updated, deleted", "contactActivityLog", "contact_activity_logs"],
  ["warehouses", "created, updated, deleted", "warehouse", "warehouses"],
  [
    "warehouse-inbound-receipts",
    "created, updated, deleted",
    "warehouseInboundReceipt",
    "warehouse_inbound_receipts",
  ],
  [
    "warehouse-outbound-receipts",
    "created, updated, deleted",
    "warehouseOutboundReceipt",
    "warehouse_outbound_receipts",
  ],
  ["price-list-items", "created, updated, deleted, stock-updated", "priceListItem", "price_list_items"],
  ["invoices", "created, updated, deleted, paid", "invoice", "invoices"],
  ["credit-notes", "created, updated, deleted, paid", "creditNote", "credit_notes"],
  ["received-invoices", "paid", "receivedInvoice", null],
  ["received-receipts", "paid", "receivedReceipt", null],
  ["proformas", "created, updated, deleted, paid", "proforma", "proformas"],
  ["orders", "created, updated, deleted", "order", "orders"],
  ["quotations", "created, updated, deleted", "quotation", "quotations"],
  ["document-payments", "created, deleted", "documentPayment", "document_payments"],
];

function actionOf(type: string, table: string | null): EventRule["action"] {
  if (table === null) return "keep";
  return type.endsWith(".deleted") ? "confirm" : "refetch";
}

describe("events", () => {
  const expected = catalogue.flatMap(([kind, events, resourceType, resource]) =>
    events.split(", ").map((event) => {
      const type = `${kind}.${event}`;
      return { type, resourceType, resource, action: actionOf(type, resource) };
    }),
  );

  it("are those of the interface document, each with what it asks for", () => {
    expect(manifest.events.toSorted(byType)).toEqual(expected.toSorted(byType));
  });

  it("never delete by themselves: a record that is said to be gone is asked for (I5)", () => {
    const deletions = manifest.events.filter(({ type }) => type.endsWith(".deleted"));
    expect(deletions).toHaveLength(16);
    expect(new Set(deletions.map(({ action }) => action))).toEqual(new Set(["confirm"]));
  });

  it("that ask for a record find a route to read it on", () => {
    for (const { resource, action } of manifest.events) {
      expect(resource === null).toBe(action === "keep");
      if (resource !== null) expect(named(resource).detail).toMatch(/^\/[a-z-]+\/\{id\}$/);
    }
  });
});

describe("what hangs together", () => {
  it("cascades run along a column that points to what went", () => {
    expect(manifest.cascades).toHaveLength(6);
    for (const { resource, dependent, column } of manifest.cascades) {
      expect(new Map(columnsOf(named(dependent).fields)).get(column)?.references).toBe(resource);
    }
  });

  it("invalidation rules use columns that exist, and lead to records that have a route", () => {
    expect(manifest.invalidationRules).toHaveLength(17);
    for (const { resource, dependent, by } of manifest.invalidationRules ?? []) {
      expect(named(dependent).detail).toMatch(/\{id\}$/);
      if (by.kind === "parts") {
        const parts = named(resource).fields[by.field];
        expect(parts).toMatchObject({ shape: "children", fields: { [by.key]: { references: dependent } } });
      } else if (by.kind === "column") expect(columns(resource).get(by.column)?.references).toBe(dependent);
      else expect(columns(dependent).has(by.column)).toBe(true);
      if (by.kind === "pointing") expect(named(dependent).lookedUpBy).toEqual([by.column, by.idColumn]);
      for (const [own, theirs] of Object.entries((by.kind === "pointing" && by.shows) || {})) {
        expect(columns(dependent).has(own)).toBe(true);
        expect(columns(resource).has(theirs)).toBe(true);
      }
    }
  });

  it("the company's business id stands in every document and receipt", () => {
    const { resource, nameField, businessIdColumn, businessIdIn } = manifest.identity;
    expect(named(resource).fields).toHaveProperty(nameField);
    expect(businessIdIn).toHaveLength(7);
    for (const one of businessIdIn)
      expect(new Map(columnsOf(named(one).fields)).has(businessIdColumn)).toBe(true);
  });

  it("limits and address are those published", () => {
    expect(manifest.limits).toEqual({ requests: 120, windowMs: 60_000 });
    expect(manifest.baseUrl).toBe("https://app.fintoro.sk/api/public/v1");
  });

  it("a record's path is its template with the id, beyond 2^53 too", () => {
    expect(pathOf(named("invoices").detail ?? "", 9_007_199_254_740_993n)).toBe("/invoices/9007199254740993");
  });
});

describe("where a fact is from", () => {
  it("CRM events are stated by the interface document down to the last field", () => {
    expect(new Set(Object.values(origins("contact_activity_logs")))).toEqual(new Set(["stated"]));
  });

  it("of a numerical series only the next values are stated", () => {
    const stated = Object.entries(origins("numerical_series")).filter(([, origin]) => origin === "stated");
    expect(stated.map(([path]) => path)).toEqual(["nextNumber", "nextDocumentNumber", "nextVariableSymbol"]);
  });

  it("a PDF's address is stated for invoices, quotations and receipts, published for the others", () => {
    const withPdf = manifest.resources.filter((one) => one.files?.kind === "pdf");
    const stated = withPdf.filter((one) => one.fields["pdfDownloadUrl"]?.origin === "stated");
    expect(stated.map((one) => one.name)).toEqual([
      "warehouse_inbound_receipts",
      "warehouse_outbound_receipts",
      "invoices",
      "quotations",
    ]);
    expect(withPdf).toHaveLength(7);
  });

  it("a subscription's secret has no place in the mirror (I9)", () => {
    expect(named("webhook_subscriptions").fields).not.toHaveProperty("plainTextSecret");
  });
});
