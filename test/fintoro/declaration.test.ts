import { describe, expect, it } from "vitest";
import { quickLists } from "../../src/sync/plan/quick-reads.ts";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import { resourceNamed } from "../../src/connector/connector-declaration.ts";
import { pathOf, type Resource } from "../../src/connector/resource.ts";
import { allFields, columnsOf } from "../support/connector/connector.ts";

const { resources } = declaration;
const named = (name: string) => resourceNamed(declaration, name);
const names = resources.map((one) => one.name);
const columns = (name: string) => new Map(columnsOf(named(name).fields));

/** Every other resource that a resource's own fields name. */
function pointsTo(resource: Resource): string[] {
  return allFields(resource.fields).flatMap(([, field]) => {
    if (field.shape === "lookup" || field.shape === "owned") return [field.resource];
    return field.shape === "scalar" && field.references !== undefined ? [field.references] : [];
  });
}

describe("a sweep", () => {
  it("comes to what others point to first, to parents before their lists, and to owners before what they own", () => {
    const ahead = resources.flatMap((resource, index) => {
      const { name, list, fields } = resource;
      const isOwned = (target: string) =>
        Object.values(fields).some((field) => field.shape === "owned" && field.resource === target);
      const before = pointsTo(resource).filter((target) => !isOwned(target));
      const parents = list.kind === "parents" ? list.parents : list.kind === "owned" ? list.by : [];
      const needs = [...before, ...parents.map((one) => one.resource)];
      return needs
        .filter((target) => names.indexOf(target) > index || !names.includes(target))
        .map((target) => `${name} -> ${target}`);
    });
    expect(ahead).toEqual([]);
  });

  it("reads in a quick run only lists that the service offers, by columns that previews show", () => {
    const queries = resources.flatMap((resource) => {
      const { list, previewFields, fields } = resource;
      const shown = Object.keys(previewFields ?? fields);
      if (list.kind === "paged" && list.quick?.open) expect(shown).toContain(list.quick.open.column);
      return quickLists(resource, 0).map(({ params }) => ({ path: "path" in list ? list.path : "", params }));
    });
    expect(queries).toHaveLength(5 + 3 * 3 + 1 + 1 + 2);
    for (const { path, params } of queries) {
      const operation = declaration.operations.find((one) => one.method === "GET" && one.path === path);
      expect(operation?.query?.safeParse(params).error, path).toBeUndefined();
    }
  });

  it("sorts every list in pages ascending by a key, so that new records come last", () => {
    const sorted = resources.flatMap(({ list }) => (list.kind === "paged" ? [list.params] : []));
    const keys = ["name", ...Array<string>(2).fill("created_at"), ...Array<string>(5).fill("number")];
    const [first, ...others] = sorted;
    expect(first).toEqual({ sortDirection: "asc" });
    expect(others).toEqual(keys.map((sortBy) => ({ sortBy, sortDirection: "asc" })));
  });

  it("reads the largest pages that there are: of 500 documents, and of 200 of all else", () => {
    const paged = resources.flatMap(({ name, list }) => ("perPage" in list ? [{ name, ...list }] : []));
    const ofSize = (size: number) => paged.flatMap(({ name, perPage }) => (perPage === size ? [name] : []));
    expect(ofSize(500)).toEqual(Object.keys(documentKinds));
    expect(ofSize(200)).toHaveLength(5);
    expect(paged).toHaveLength(10);
  });

  it("uses routes that the service offers", () => {
    const offered = declaration.operations
      .filter(({ method }) => method === "GET")
      .map(({ path }) => path.replace(/\{.*?\}/, "{id}"));
    for (const { list, detail, files } of resources)
      for (const path of ["path" in list ? list.path : undefined, detail, files?.path])
        if (path !== undefined) expect(offered).toContain(path);
  });
});

describe("every resource", () => {
  it("has one meaning for each column, an id, and free names for the keys of its parts", () => {
    for (const { name, fields, list, singular } of resources) {
      const meanings = new Map<string, string>();
      for (const [column, meaning] of columnsOf(fields)) {
        const text = JSON.stringify(meaning);
        expect(meanings.get(column) ?? text, column).toBe(text);
        expect(column, "own columns begin with _").toMatch(/^[a-z][a-z0-9_]*$/);
        meanings.set(column, text);
      }
      expect(Object.hasOwn(fields, "id"), name).toBe(list.kind !== "single");
      for (const field of Object.values(fields)) {
        const own = field.shape === "children" ? columnsOf(field.fields).map(([column]) => column) : [];
        expect(own).not.toContain(`${singular}_id`);
        expect(own).not.toContain("position");
      }
    }
  });

  it("has previews whose columns are the detail's, of the same type; only documents have them", () => {
    const previews = resources.filter(({ gives }) => gives === "preview");
    expect(previews.map(({ name }) => name)).toEqual(Object.keys(documentKinds));
    for (const { previewFields, fields } of previews)
      for (const [name, column] of columnsOf(previewFields ?? {}))
        expect(new Map(columnsOf(fields)).get(name)).toEqual(column);
  });

  it("cannot be changed by who reads it", () => {
    expect(resources.filter((one) => !Object.isFrozen(one) || !Object.isFrozen(one.fields))).toEqual([]);
  });
});

const documentKinds = {
  invoices: "invoice",
  credit_notes: "credit-note",
  proformas: "proforma",
  orders: "order",
  quotations: "quotation",
};

it("payments are owned by invoices, credit notes and proformas, named by their own fields", () => {
  const { list, fields } = named("document_payments");
  const owners = list.kind === "owned" ? list.by : [];
  expect(owners).toHaveLength(3);
  for (const { resource, type, typeField, idField } of owners) {
    expect(documentKinds).toHaveProperty(resource, type);
    expect(named(resource).fields["payments"]).toMatchObject({ shape: "owned" });
    expect([typeField in fields, idField in fields]).toEqual([true, true]);
  }
});

describe("columns that people's reports lean on", () => {
  it("hold a lookup's id under its name, also where the service nests the record", () => {
    expect(columns("document_payments").get("receipt_invoice_id")?.references).toBe("invoices");
    expect(columns("invoices").get("bank_account_id")?.references).toBe("bank_accounts");
    expect(columns("business_cases").get("status_id")?.references).toBe("business_case_statuses");
    expect(columns("warehouse_inbound_receipts").get("warehouse_id")?.references).toBe("warehouses");
    const related = columns("contact_activity_logs").get("metadata_related_document_currency_id");
    expect(related?.references).toBe("currencies");
  });

  it("are one where the service says an id twice", () => {
    const twice = { invoices: "client_country_id", price_list_items: "unit_id", bank_accounts: "bank_id" };
    for (const [name, column] of Object.entries(twice))
      expect(columnsOf(named(name).fields).filter(([each]) => each === column)).toHaveLength(2);
  });
});

it("I5: events never delete by themselves: each asks for its record, where there is a route, or is kept", () => {
  expect(new Set(declaration.events.map(({ type }) => type)).size).toBe(53);
  expect(declaration.events).toHaveLength(53);
  for (const { type, resource, action } of declaration.events) {
    const table = type.replace(/\..*/, "").replaceAll("-", "_");
    const isReceived = table.startsWith("received_");
    expect(resource, type).toBe(isReceived ? null : table);
    expect(action, type).toBe(isReceived ? "keep" : type.endsWith(".deleted") ? "confirm" : "refetch");
    if (resource !== null) expect(named(resource).detail).toMatch(/^\/[a-z-]+\/\{id\}$/);
  }
});

describe("what hangs together", () => {
  it("cascades run along a column that points to what went", () => {
    expect(declaration.cascades).toHaveLength(6);
    for (const { resource, dependent, column } of declaration.cascades)
      expect(columns(dependent).get(column)?.references).toBe(resource);
  });

  it("invalidation rules use columns that exist, and lead to records that have a route", () => {
    expect(declaration.invalidationRules).toHaveLength(17);
    for (const { resource, dependent, by } of declaration.invalidationRules ?? []) {
      expect(named(dependent).detail).toMatch(/\{id\}$/);
      if (by.kind === "parts") {
        const parts = named(resource).fields[by.field];
        expect(parts).toMatchObject({ shape: "children", fields: { [by.key]: { references: dependent } } });
      } else if (by.kind === "column") expect(columns(resource).get(by.column)?.references).toBe(dependent);
      else expect([...columns(dependent).keys()]).toContain(by.column);
      if (by.kind === "pointing") expect(named(dependent).lookedUpBy).toEqual([by.column, by.idColumn]);
      for (const [own, theirs] of Object.entries((by.kind === "pointing" && by.shows) || {}))
        expect([columns(dependent).has(own), columns(resource).has(theirs)]).toEqual([true, true]);
    }
  });

  it("the company's business id stands in every document and receipt", () => {
    const { resource, nameField, businessIdColumn, businessIdIn } = declaration.identity;
    expect(named(resource).fields).toHaveProperty(nameField);
    expect(businessIdIn).toHaveLength(7);
    for (const one of businessIdIn) expect([...columns(one).keys()]).toContain(businessIdColumn);
  });

  it("limits and address are those published, and a record's path is its template with the id", () => {
    expect(declaration.limits).toEqual({ requests: 120, windowMs: 60_000 });
    expect(declaration.baseUrl).toBe("https://app.fintoro.sk/api/public/v1");
    expect(pathOf(named("invoices").detail ?? "", 9_007_199_254_740_993n)).toBe("/invoices/9007199254740993");
  });
});

it("I9: a subscription's secret has no place in the mirror", () => {
  expect(named("webhook_subscriptions").fields).not.toHaveProperty("plainTextSecret");
});
