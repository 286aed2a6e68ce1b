import { crc32 } from "node:zlib";
import { describe, expect, test } from "vitest";
import { all, ask, get, one, openSandbox, type Dict } from "../support/sandbox.ts";

const paths = [
  "/whoami",
  "/banks",
  "/countries",
  "/languages",
  "/currencies",
  "/delivery-methods",
  "/payment-methods",
  "/qr-types",
  "/units",
  "/numerical-series?documentType=order",
  "/subjects?searchQuery=doprava",
  "/clients",
  "/suppliers",
  "/business-case-statuses",
  "/business-cases",
  "/bank-accounts",
  "/warehouses",
  "/warehouse-inbound-receipts",
  "/warehouse-outbound-receipts",
  "/price-list-items",
  "/webhook-subscriptions",
  "/invoices",
  "/credit-notes",
  "/proformas",
  "/orders",
  "/quotations",
];

describe("who may read", () => {
  test("both tokens of a company read every list; each answer has its request id, language and budget", async () => {
    const sandbox = await openSandbox({ limit: 120 });
    const ids = new Set<string | null>();
    for (const [turn, path] of paths.entries()) {
      const heard = await get(sandbox, path, { token: turn % 2 === 0 ? sandbox.token : sandbox.readToken });
      expect(heard.status, path).toBe(200);
      expect(heard.headers.get("x-ratelimit-limit")).toBe("120");
      expect(heard.headers.get("x-ratelimit-remaining")).toBe(String(119 - turn));
      expect(heard.headers.get("content-language")).toBe("en");
      expect(heard.headers.get("content-type")).toBe("application/json");
      ids.add(heard.headers.get("x-request-id"));
      if (path !== "/whoami") expect(heard.data.length, path).toBeGreaterThan(1);
    }
    expect(ids.size).toBe(paths.length);
    expect(sandbox.control.failures()).toEqual([]);
  });

  test("without a valid token the answer is 401 in JSON, without budget headers and uncounted", async () => {
    const sandbox = await openSandbox({ limit: 5 });
    for (const token of [null, "wrong", `${sandbox.token}x`]) {
      const heard = await get(sandbox, "/invoices", { token });
      expect(heard.status).toBe(401);
      expect(heard.json).toEqual({ message: "Unauthenticated." });
      expect(heard.headers.get("x-ratelimit-remaining")).toBeNull();
      expect(heard.headers.get("x-request-id")).toMatch(/^req_/);
    }
    expect((await get(sandbox, "/whoami")).headers.get("x-ratelimit-remaining")).toBe("4");
  });

  test("a revoked token stops working at once", async () => {
    const sandbox = await openSandbox();
    expect((await get(sandbox, "/whoami")).status).toBe(200);
    sandbox.control.revoke(sandbox.token);
    expect((await get(sandbox, "/whoami")).status).toBe(401);
    expect((await get(sandbox, "/whoami", { token: sandbox.readToken })).status).toBe(200);
  });

  test("an unknown route and a wrong method tell so in JSON and cost nothing", async () => {
    const sandbox = await openSandbox({ limit: 5 });
    const unknown = await get(sandbox, "/no/such");
    expect(unknown.status).toBe(404);
    expect(unknown.json).toEqual({ message: "The route api/public/v1/no/such could not be found." });
    const wrong = await ask(sandbox, "PATCH", "/clients");
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get("allow")).toContain("GET");
    expect(unknown.headers.get("x-ratelimit-limit")).toBeNull();
    expect((await get(sandbox, "/whoami")).headers.get("x-ratelimit-remaining")).toBe("4");
  });

  test("a missing record is 404 with the service's words, and counted", async () => {
    const sandbox = await openSandbox({ limit: 10 });
    for (const path of ["/invoices/999999", "/clients/abc", "/invoices/999999/pdf"]) {
      const heard = await get(sandbox, path);
      expect(heard.status, path).toBe(404);
      expect(heard.json).toEqual({ message: "No query results for model." });
      expect(heard.headers.get("x-ratelimit-remaining")).not.toBeNull();
    }
  });

  test("companies see nothing of each other and have budgets of their own", async () => {
    const sandbox = await openSandbox({ companies: 2, limit: 50 });
    const [first, second] = sandbox.companies;
    const mine = (await get(sandbox, "/invoices")).data;
    const theirs = (await get(sandbox, "/invoices", { token: second?.token ?? "" })).data;
    expect(first?.name).not.toBe(second?.name);
    expect((await get(sandbox, "/whoami", { token: second?.readToken ?? "" })).json).toEqual({
      name: second?.name,
    });
    expect(mine[0]?.["id"]).not.toBe(theirs[0]?.["id"]);
    const foreign = await get(sandbox, `/invoices/${String(theirs[0]?.["id"])}`);
    expect(foreign.status).toBe(404);
    expect(foreign.headers.get("x-ratelimit-remaining")).toBe("48");
  });
});

describe("lists", () => {
  test("pages cover a list exactly once, and the paginator tells the truth about each", async () => {
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

describe("records", () => {
  test("a preview repeats its detail; lines, payments and notes stand in the detail only", async () => {
    const sandbox = await openSandbox();
    for (const path of ["/invoices", "/credit-notes", "/proformas", "/orders", "/quotations"]) {
      for (const preview of await all(sandbox, path)) {
        const { json } = await get(sandbox, `${path}/${String(preview["id"])}`);
        const { currency, ...rest } = preview;
        expect(json).toMatchObject(rest);
        expect(json["currencyId"]).toBe((currency as Dict)["id"]);
        expect((json["items"] as Dict[]).length).toBeGreaterThan(0);
        for (const key of ["items", "payments", "note"]) expect(preview).not.toHaveProperty(key);
      }
    }
  });

  test("the stock of an item is split by warehouse; a list may leave that to the record", async () => {
    const whole = await openSandbox();
    const lean = await openSandbox({ stocksInLists: false });
    const tracked = "/price-list-items?onlyWarehouseItems=true&stockFrom=1";
    const previews = (await get(lean, tracked)).data;
    expect(previews.length).toBeGreaterThan(0);
    for (const [i, record] of (await get(whole, tracked)).data.entries()) {
      const split = record["stocks"] as Dict[];
      expect(split.reduce((sum, { stockQuantity }) => sum + Number(stockQuantity), 0)).toBe(record["stock"]);
      expect((await get(lean, `/price-list-items/${String(record["id"])}`)).json).toEqual(record);
      const { stocks: _, ...rest } = record;
      expect(previews[i]).toEqual(rest);
    }
  });

  test("payments of a document come newest first, the same in its detail and in their list", async () => {
    const sandbox = await openSandbox({ records: 600 });
    const paid = await all(sandbox, "/invoices?paymentStatus=paid");
    let pairs = 0;
    for (const { id } of paid) {
      const detail = (await get(sandbox, `/invoices/${String(id)}`)).json["payments"] as Dict[];
      const listed = (await get(sandbox, `/document-payments?documentType=invoice&documentId=${String(id)}`))
        .data;
      expect(listed).toEqual(detail);
      const dates = detail.map(({ paymentDate }) => String(paymentDate));
      expect(dates).toEqual(dates.toSorted().toReversed());
      if (detail.length > 1) pairs++;
    }
    expect(pairs).toBeGreaterThan(0);
  });

  test("a PDF is one, names its document and its total, and comes as an attachment", async () => {
    const sandbox = await openSandbox();
    for (const path of [
      "/invoices",
      "/quotations",
      "/warehouse-outbound-receipts",
      "/warehouse-inbound-receipts",
    ]) {
      const record = await one(sandbox, path);
      const heard = await get(sandbox, `${path}/${String(record["id"])}/pdf`);
      expect(heard.headers.get("content-type")).toBe("application/pdf");
      expect(heard.headers.get("content-disposition")).toContain("attachment");
      expect(heard.text.startsWith("%PDF-1.4")).toBe(true);
      expect(heard.text.trimEnd().endsWith("%%EOF")).toBe(true);
      expect(heard.text).toContain(String(record["number"]));
      expect(heard.text).toContain(String(record["totalWithVat"]));
      const table = Number(/startxref\n(\d+)/.exec(heard.text)?.[1]);
      expect(heard.text.slice(table, table + 4)).toBe("xref");
    }
  });

  test("attachments come as a ZIP of the files the event names; an event without any is 404", async () => {
    const sandbox = await openSandbox();
    const logs = [...(sandbox.control.snapshot().get("contact_activity_logs")?.values() ?? [])] as Dict[];
    const full = logs.find(({ attachments }) => (attachments as Dict[]).length > 0);
    const empty = logs.find(({ attachments }) => (attachments as Dict[]).length === 0);
    const response = await fetch(`${sandbox.url}/contact-activity-logs/${String(full?.["id"])}/attachments`, {
      headers: { Authorization: `Bearer ${sandbox.token}` },
    });
    expect(response.headers.get("content-type")).toBe("application/zip");
    const names = zipNames(Buffer.from(await response.arrayBuffer()));
    expect(names).toEqual(((full ?? {})["attachments"] as Dict[]).map(({ name }) => name));
    expect((await get(sandbox, `/contact-activity-logs/${String(empty?.["id"])}/attachments`)).status).toBe(
      404,
    );
  });

  test("a subject of the register is found by name and by business id", async () => {
    const sandbox = await openSandbox();
    const found = (await get(sandbox, "/subjects?searchQuery=pekaren&legalForm=company&limit=3")).data;
    expect(found.length).toBeGreaterThan(0);
    expect(found.length).toBeLessThanOrEqual(3);
    const id = String(found[0]?.["id"]);
    expect((await get(sandbox, `/subjects?searchQuery=${id}`)).data).toEqual([found[0]]);
    expect((await get(sandbox, `/subjects/${id}`)).json).toEqual(found[0]);
    expect((await get(sandbox, "/subjects/1")).status).toBe(404);
  });
});

test("a large answer is zipped for who can read it, and the same underneath", async () => {
  const sandbox = await openSandbox({ records: 500 });
  const plain = await get(sandbox, "/clients", { headers: { "Accept-Encoding": "identity" } });
  const zipped = await get(sandbox, "/clients", { headers: { "Accept-Encoding": "gzip" } });
  expect(plain.headers.get("content-encoding")).toBeNull();
  expect(zipped.headers.get("content-encoding")).toBe("gzip");
  expect(zipped.text).toBe(plain.text);
});

test("requests are logged with what they asked and how it ended", async () => {
  const sandbox = await openSandbox();
  await get(sandbox, "/invoices?perPage=3");
  await get(sandbox, "/nowhere", { token: null });
  const [list, nowhere] = sandbox.requests();
  expect(list).toMatchObject({
    method: "GET",
    path: "/invoices",
    query: { perPage: "3" },
    status: 200,
    company: 0,
  });
  expect(nowhere).toMatchObject({ path: "/nowhere", status: 404, company: null });
});

function within(value: unknown, from: string, to: string): boolean {
  return String(value) >= from && String(value) <= to;
}

/** Names by the directory at the end of the archive; every entry's content is read as well. */
function zipNames(zip: Buffer): string[] {
  const end = zip.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  const count = zip.readUInt16LE(end + 10);
  let at = zip.readUInt32LE(end + 16);
  return Array.from({ length: count }, () => {
    const length = zip.readUInt16LE(at + 28);
    const name = zip.subarray(at + 46, at + 46 + length).toString("utf8");
    const start = zip.readUInt32LE(at + 42) + 30 + length;
    const content = zip.subarray(start, start + zip.readUInt32LE(at + 24));
    expect(zip.readUInt32LE(at + 16)).toBe(crc32(content));
    at += 46 + length;
    return name;
  });
}
