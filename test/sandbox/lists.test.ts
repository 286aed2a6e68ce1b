import { expect, test } from "vitest";
import { all, get, openSandbox, type Dict } from "../support/sandbox/sandbox.ts";

test("pages cover a list exactly once, and the paginator is right about each", async () => {
  const sandbox = await openSandbox();
  const seen: unknown[] = [];
  const perPage = 7;
  for (let page = 1; page <= 5; page++) {
    const { data, json } = await get(sandbox, `/invoices?perPage=${perPage}&page=${page}`);
    expect(json["paginator"]).toMatchObject({
      currentPage: page,
      perPage,
      totalPages: 5,
      totalResults: 31,
      currentFrom: (page - 1) * perPage + 1,
      currentTo: (page - 1) * perPage + data.length,
      previousPageUrl: page === 1 ? null : expect.any(String),
      nextPageUrl: page === 5 ? null : expect.any(String),
    });
    seen.push(...data.map(({ id }) => id));
  }
  expect([seen.length, new Set(seen).size]).toEqual([31, 31]);
});

test.each(["number", "issueDate", "dueDate"])(
  "sorting by %s holds over the whole list, in both directions",
  async (sortBy) => {
    const sandbox = await openSandbox({ records: 300 });
    const up = (await get(sandbox, `/invoices?perPage=500&sortBy=${sortBy}&sortDirection=asc`)).data;
    const down = (await get(sandbox, `/invoices?perPage=500&sortBy=${sortBy}&sortDirection=desc`)).data;
    const keys = up.map((record) => String(record[sortBy]));
    expect(keys).toEqual(keys.toSorted());
    expect(down.map(({ id }) => id)).toEqual(up.map(({ id }) => id).toReversed());
  },
);

const country = (record: Dict) => (record["country"] as Dict)["code"];

test.each<[string, string, (record: Dict) => boolean]>([
  ["/invoices", "paymentStatus=overdue", ({ status }) => status === "overdue"],
  [
    "/invoices",
    "issueDateFrom=2025-03-01&issueDateTo=2025-06-30",
    ({ issueDate }) => String(issueDate) >= "2025-03-01" && String(issueDate) <= "2025-06-30",
  ],
  ["/invoices", "number=202500", ({ number }) => String(number).includes("202500")],
  ["/quotations", "status=accepted", ({ status }) => status === "accepted"],
  ["/clients", "type=person", ({ type }) => type === "person"],
  ["/clients", "countryId=203", (record) => country(record) === "CZ"],
  ["/clients", "search=kosice", ({ city, name }) => `${String(city)}${String(name)}`.includes("Košice")],
  [
    "/price-list-items",
    "onlyWarehouseItems=true&stockFrom=1",
    ({ useWarehouse, stock }) => useWarehouse === true && Number(stock) >= 1,
  ],
  ["/price-list-items", "name=SKL-0003", ({ warehouseCode }) => warehouseCode === "SKL-0003"],
])("%s?%s gives exactly the records that fit", async (path, query, isWanted) => {
  const sandbox = await openSandbox({ records: 300 });
  const wanted = (await all(sandbox, path)).filter(isWanted).map(({ id }) => id);
  expect(wanted.length).toBeGreaterThan(0);
  expect((await all(sandbox, `${path}?${query}`)).map(({ id }) => id)).toEqual(wanted);
});
