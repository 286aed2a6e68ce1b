import { describe, expect, test } from "vitest";
import { all, get, one, openSandbox, type Dict } from "../support/sandbox/sandbox.ts";

describe("lists", () => {
  test("pages cover a list exactly once, and the paginator is right about each", async () => {
    const sandbox = await openSandbox();
    const seen: unknown[] = [];
    const perPage = 7;
    for (let page = 1; page <= 5; page++) {
      const { data, json } = await get(sandbox, `/invoices?perPage=${perPage}&page=${page}`);
      const paginator = json["paginator"] as Dict;
      const total = Number(paginator["totalResults"]);
      expect(paginator).toMatchObject({ currentPage: page, perPage, totalPages: Math.ceil(total / perPage) });
      expect(paginator["currentFrom"]).toBe((page - 1) * perPage + 1);
      expect(paginator["currentTo"]).toBe((page - 1) * perPage + data.length);
      expect(paginator["previousPageUrl"] === null).toBe(page === 1);
      expect(paginator["nextPageUrl"] === null).toBe(page === paginator["totalPages"]);
      seen.push(...data.map(({ id }) => id));
      if (page === paginator["totalPages"]) expect(seen.length).toBe(total);
    }
    expect(new Set(seen).size).toBe(seen.length);
  });

  test("links are labelled as the framework does: previous, numbers with a gap, next", async () => {
    const sandbox = await openSandbox({ records: 800 });
    const { json } = await get(sandbox, "/invoices?perPage=10&page=20");
    const links = (json["paginator"] as Dict)["links"] as Dict[];
    const labels = links.map(({ label }) => label);
    expect(labels[0]).toBe("&laquo; Previous");
    expect(labels.at(-1)).toBe("Next &raquo;");
    expect(labels.slice(1, -1)).toEqual([
      "1",
      "2",
      "...",
      "17",
      "18",
      "19",
      "20",
      "21",
      "22",
      "23",
      "...",
      "39",
      "40",
    ]);
    expect(links.filter(({ active }) => active).map(({ label }) => label)).toEqual(["20"]);
    expect(links.find(({ label }) => label === "...")?.["url"]).toBeNull();
  });

  test.each([
    ["/invoices?perPage=0", "perPage"],
    ["/invoices?perPage=501", "perPage"],
    ["/invoices?perPage=ten", "perPage"],
    ["/invoices?page=0", "page"],
    ["/invoices?sortBy=id", "sortBy"],
    ["/invoices?sortDirection=up", "sortDirection"],
    ["/invoices?paymentStatus=late", "paymentStatus"],
    ["/invoices?issueDateFrom=2026-02-30", "issueDateFrom"],
    ["/invoices?totalFrom=much", "totalFrom"],
    ["/business-cases?perPage=201", "perPage"],
    ["/business-cases?sortBy=id", "sortBy"],
    ["/price-list-items?perPage=201", "perPage"],
    ["/warehouse-inbound-receipts?sortBy=issueDate", "sortBy"],
    ["/clients?sortBy=id", "sortBy"],
    ["/subjects?searchQuery=ab", "searchQuery"],
    ["/subjects", "searchQuery"],
    ["/subjects?searchQuery=abc&limit=21", "limit"],
    ["/numerical-series", "documentType"],
    ["/numerical-series?documentType=receipt", "documentType"],
    ["/document-payments?documentType=invoice", "documentId"],
    ["/document-payments?documentType=order&documentId=1", "documentType"],
    ["/document-payments?documentType=invoice&documentId=9", "documentId"],
  ])("%s is refused with a message on %s", async (path, field) => {
    const sandbox = await openSandbox();
    const heard = await get(sandbox, path);
    expect(heard.status).toBe(422);
    expect(heard.json["message"]).toBe("The given data was invalid.");
    expect(Object.keys(heard.json["errors"] as Dict)).toEqual([field]);
  });

  test("sorting holds over the whole list, in both directions", async () => {
    const sandbox = await openSandbox({ records: 300 });
    for (const sortBy of ["number", "issueDate", "dueDate", "deliveryDate"]) {
      const up = (await get(sandbox, `/invoices?perPage=500&sortBy=${sortBy}&sortDirection=asc`)).data;
      const down = (await get(sandbox, `/invoices?perPage=500&sortBy=${sortBy}&sortDirection=desc`)).data;
      const keys = up.map((record) => String(record[sortBy]));
      expect(keys).toEqual(keys.toSorted());
      expect(down.map(({ id }) => id)).toEqual(up.map(({ id }) => id).toReversed());
    }
  });

  test("document lists default to the newest issue date, ten a page", async () => {
    const sandbox = await openSandbox();
    const { data } = await get(sandbox, "/invoices");
    const dates = data.map(({ issueDate }) => String(issueDate));
    expect(dates).toHaveLength(10);
    expect(dates).toEqual(dates.toSorted().toReversed());
    expect((await get(sandbox, "/price-list-items")).json["paginator"]).toMatchObject({ perPage: 50 });
  });

  test("filters give exactly the records that a full listing shows them for", async () => {
    const sandbox = await openSandbox({ records: 300 });
    const everything = await all(sandbox, "/invoices");
    const sample = everything[40] ?? {};
    const filters: [string, (record: Dict) => boolean][] = [
      [`clientId=${String(sample["clientId"])}`, (r) => r["clientId"] === sample["clientId"]],
      ["paymentStatus=overdue", (r) => r["status"] === "overdue"],
      [
        "issueDateFrom=2025-03-01&issueDateTo=2025-06-30",
        (r) => within(r["issueDate"], "2025-03-01", "2025-06-30"),
      ],
      ["dueDateTo=2025-01-31", (r) => String(r["dueDate"]) <= "2025-01-31"],
      ["number=202500", (r) => String(r["number"]).includes("202500")],
    ];
    for (const [query, fits] of filters) {
      const wanted = everything.filter(fits).map(({ id }) => id);
      const got = (await all(sandbox, `/invoices?${query}`)).map(({ id }) => id);
      expect(wanted.length, query).toBeGreaterThan(0);
      expect(got, query).toEqual(wanted);
    }
  });

  test("documents without a successor are those no other document was made from", async () => {
    const sandbox = await openSandbox();
    const every = await all(sandbox, "/quotations");
    const open = await all(sandbox, "/quotations?withoutOrder=true");
    const closed = every.filter(({ id }) => !open.some((other) => other["id"] === id));
    expect(open.length).toBeGreaterThan(0);
    expect(closed.length).toBeGreaterThan(0);
    for (const record of closed) expect(record["status"]).toBe("accepted");
  });

  test("clients come whole in one answer, filtered, searched without accents and sorted by name", async () => {
    const sandbox = await openSandbox({ records: 1000 });
    const { data, json } = await get(sandbox, "/clients");
    expect(json["paginator"]).toBeUndefined();
    expect(data).toHaveLength(500);
    const people = (await get(sandbox, "/clients?type=person")).data;
    expect(people.map(({ id }) => id)).toEqual(
      data.filter(({ type }) => type === "person").map(({ id }) => id),
    );
    const found = (await get(sandbox, "/clients?search=kosice")).data;
    expect(found.length).toBeGreaterThan(0);
    for (const { city } of found) expect(city).toBe("Košice");
    const czech = (await get(sandbox, "/clients?countryId=203")).data;
    for (const { country } of czech) expect((country as Dict)["code"]).toBe("CZ");
  });

  test("price-list items filter by name, price, stock and tracking", async () => {
    const sandbox = await openSandbox({ records: 1000 });
    const everything = await all(sandbox, "/price-list-items");
    const tracked = await all(sandbox, "/price-list-items?onlyWarehouseItems=true&stockFrom=1&priceTo=20");
    const wanted = everything.filter(
      (r) => r["useWarehouse"] === true && Number(r["stock"]) >= 1 && Number(r["unitPrice"]) <= 20,
    );
    expect(tracked.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id));
    expect((await get(sandbox, "/price-list-items?name=KAVA")).data.length).toBeGreaterThan(0);
    const bySku = await get(sandbox, "/price-list-items?name=SKL-0003");
    expect(bySku.data.map(({ warehouseCode }) => warehouseCode)).toEqual(["SKL-0003"]);
    const byStock = (await all(sandbox, "/price-list-items?sortBy=stock")).map(({ stock }) => Number(stock));
    expect(byStock).toEqual(byStock.toSorted((a, b) => a - b));
  });

  test("CRM events want exactly one parent that exists", async () => {
    const sandbox = await openSandbox();
    const client = await one(sandbox, "/clients");
    const supplier = await one(sandbox, "/suppliers");
    for (const query of [
      "",
      `clientId=${String(client["id"])}&supplierId=${String(supplier["id"])}`,
      "clientId=999999",
    ]) {
      expect((await get(sandbox, `/contact-activity-logs?${query}`)).status, query).toBe(422);
    }
    const wrong = await get(
      sandbox,
      `/contact-activity-logs?clientId=${String(client["id"])}&type=document_created`,
    );
    expect(wrong.status).toBe(422);
    expect((await get(sandbox, `/contact-activity-logs?clientId=${String(client["id"])}`)).status).toBe(200);
  });
});

function within(value: unknown, from: string, to: string): boolean {
  return String(value) >= from && String(value) <= to;
}
