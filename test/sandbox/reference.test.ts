import { describe, expect, test } from "vitest";
import type { Sandbox } from "../support/sandbox/control.ts";
import { allRoutes } from "../../connectors/fintoro/sandbox/resources/all-routes.ts";
import { all, ask, get, one, openSandbox, post, testDay, type Dict } from "../support/sandbox/sandbox.ts";
import { Reference, referencePresent } from "../support/sandbox/reference.ts";

/** Queries without which a list cannot be asked. */
async function listQueries(sandbox: Sandbox, path: string): Promise<string[]> {
  if (path === "/numerical-series") return ["invoice", "order"].map((type) => `?documentType=${type}`);
  if (path === "/subjects") return ["?searchQuery=doprava"];
  if (path === "/document-payments") {
    const invoices = await all(sandbox, "/invoices?paymentStatus=paid");
    return invoices.slice(0, 5).map(({ id }) => `?documentType=invoice&documentId=${String(id)}`);
  }
  if (path !== "/contact-activity-logs") return [""];
  return (await logParents(sandbox)).map((query) => `?perPage=200&${query}`);
}

async function logParents(sandbox: Sandbox): Promise<string[]> {
  const parents = [
    ["clientId", "/clients"],
    ["supplierId", "/suppliers"],
    ["businessCaseId", "/business-cases"],
  ] as const;
  const queries = [];
  for (const [param, path] of parents) {
    for (const { id } of await all(sandbox, path)) queries.push(`${param}=${String(id)}`);
  }
  return queries;
}

async function idsOf(sandbox: Sandbox, collection: string): Promise<number[]> {
  const ids = [];
  for (const query of await listQueries(sandbox, collection)) {
    for (const { id } of await all(sandbox, `${collection}${query}`)) ids.push(Number(id));
  }
  return ids;
}

describe.runIf(referencePresent)("the vendor's published reference", () => {
  test("complains of a wrong type, of a field that lacks and of one too many, also deep inside", () => {
    const body = { data: [{ id: "1", client: { name: "A", country: { id: 1, moons: 2 } } }] };
    const complaints = new Reference().complaints("get", "/invoices", 200, body);
    for (const part of [
      "/data/0/id must be integer",
      "/data/*/number is missing",
      "/data/*/client/country/moons is not",
    ]) {
      expect(
        complaints.some((text) => text.startsWith(part)),
        part,
      ).toBe(true);
    }
  });

  test("and the sandbox offer the same operations", () => {
    const published = new Reference().operations.map(
      ([method, path]) => `${method} ${path.replace(/\{[^}]+\}/, "{id}")}`,
    );
    const offered = allRoutes().map(({ method, path }) => `${method.toLowerCase()} ${path}`);
    expect(offered.toSorted()).toEqual(published.toSorted());
  });

  test("fits every list and every record of the small sandbox, field by field", async () => {
    const sandbox = await openSandbox();
    const reference = new Reference();
    const wrong: string[] = [];
    let checked = 0;
    for (const [method, path] of reference.operations) {
      if (method !== "get" || !reference.isJson(method, path, 200)) continue;
      const collection = `/${path.split("/")[1] ?? ""}`;
      const urls = path.includes("{")
        ? (await idsOf(sandbox, collection)).map((id) => path.replace(/\{[^}]+\}/, String(id)))
        : (await listQueries(sandbox, path)).map((query) => `${path}${query}`);
      expect(urls, path).not.toEqual([]);
      for (const url of urls) {
        const { json } = await get(sandbox, url);
        wrong.push(...reference.complaints("get", path, 200, json).map((text) => `${url} ${text}`));
        checked++;
      }
    }
    expect(wrong).toEqual([]);
    expect(checked).toBeGreaterThan(300);
  });

  test("fits the answer to every creation and every update", async () => {
    const sandbox = await openSandbox();
    const reference = new Reference();
    const wrong: string[] = [];
    for (const { path, input, update } of await writings(sandbox)) {
      const made = await post(sandbox, path, input);
      expect(made.status, `${path} ${made.text}`).toBe(201);
      wrong.push(...reference.complaints("post", path, 201, made.json).map((text) => `${path} ${text}`));
      const own = reference.operations.find(
        ([, other]) => other.startsWith(`${path}/{`) && !other.includes("}/"),
      )?.[1];
      if (!update) continue;
      expect(own, path).toBeDefined();
      const changed = await ask(sandbox, update.toUpperCase(), `${path}/${String(made.json["id"])}`, {
        body: changeOf(path, input),
      });
      expect(changed.status, `${path} ${changed.text}`).toBe(200);
      wrong.push(
        ...reference.complaints(update, own ?? "", 200, changed.json).map((text) => `${own ?? ""} ${text}`),
      );
    }
    expect(wrong).toEqual([]);
  });
});

interface Writing {
  readonly path: string;
  readonly input: Dict;
  readonly update: "put" | "patch" | null;
}

/** CRM events and cases keep what they belong to; all else is sent whole again. */
function changeOf(path: string, input: Dict): Dict {
  if (path === "/contact-activity-logs") return { metadata: input["metadata"] };
  return path === "/business-cases" ? { name: "Iný názov" } : input;
}

/** One valid request for everything that can be made. */
async function writings(sandbox: Sandbox): Promise<Writing[]> {
  const clientId = (await one(sandbox, "/clients"))["id"];
  const invoice = (await get(sandbox, `/invoices/${String((await one(sandbox, "/invoices"))["id"])}`)).json;
  const items = [{ name: "Práca", quantity: 1, unitPrice: 10, vatRate: 23 }];
  return [
    { path: "/clients", input: { name: "Nový" }, update: "put" },
    { path: "/suppliers", input: { name: "Nový" }, update: "put" },
    { path: "/business-case-statuses", input: { name: "Nový", color: "#123456" }, update: "put" },
    { path: "/business-cases", input: { clientId, name: "Nový" }, update: "patch" },
    {
      path: "/contact-activity-logs",
      input: { clientId, type: "note", metadata: { content: "x" } },
      update: "patch",
    },
    {
      path: "/bank-accounts",
      input: { name: "x", iban: "SK3112000000198742637541", swift: "TATRSKBX" },
      update: "patch",
    },
    ...(await stockWritings(sandbox)),
    {
      path: "/webhook-subscriptions",
      input: { url: "https://hooks.firma.sk/a", isActive: false, subscribedEvents: ["orders.created"] },
      update: "put",
    },
    { path: "/invoices", input: { clientId, number: "F-1", items }, update: "put" },
    { path: "/proformas", input: { clientId, number: "F-1", items }, update: "put" },
    { path: "/orders", input: { clientId, number: "F-1", items }, update: "put" },
    { path: "/quotations", input: { clientId, number: "F-1", items }, update: "put" },
    { path: "/credit-notes", input: creditNote(invoice), update: "put" },
    {
      path: "/document-payments",
      input: { documentType: "invoice", documentId: invoice["id"], amount: 1 },
      update: null,
    },
  ];
}

async function stockWritings(sandbox: Sandbox): Promise<Writing[]> {
  const item = await one(sandbox, "/price-list-items?onlyWarehouseItems=true&stockFrom=9");
  const warehouseId = (await one(sandbox, "/warehouses"))["id"];
  const items = [{ priceListItemId: item["id"], quantity: 1, unitPrice: 1, vatRate: 23 }];
  const receipt = { number: "N-1", warehouseId, languageId: 1, issueDate: testDay, items };
  const series = { inboundNumericalSeriesPattern: "(CCC)", inboundNumericalSeriesNextNumber: 1 };
  const others = { outboundNumericalSeriesPattern: "(CCC)", outboundNumericalSeriesNextNumber: 1 };
  return [
    { path: "/warehouses", input: { name: "Nový", code: "N", ...series, ...others }, update: "put" },
    {
      path: "/price-list-items",
      input: { name: "Nový", unitPrice: 1, unitId: 1, vatRate: 23 },
      update: "put",
    },
    { path: "/warehouse-inbound-receipts", input: { ...receipt, supplier: { name: "S" } }, update: "put" },
    { path: "/warehouse-outbound-receipts", input: { ...receipt, client: { name: "K" } }, update: "put" },
  ];
}

function creditNote(invoice: Dict): Dict {
  const { id: bankAccountId } = invoice["bankAccount"] as Dict;
  const dates = { issueDate: testDay, dueDate: testDay, deliveryDate: testDay };
  const terms = {
    transferTaxLiability: false,
    paymentMethodId: 1,
    currencyId: 1,
    currencyRate: 1,
    languageId: 1,
  };
  const items = [{ name: "Vrátené", quantity: 1, unitPrice: -1, vatRate: 23 }];
  return {
    invoiceId: invoice["id"],
    number: "D-1",
    variableSymbol: 1,
    bankAccountId,
    ...dates,
    ...terms,
    items,
  };
}
