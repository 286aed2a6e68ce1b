import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { volumesOf } from "../../connectors/fintoro/sandbox/made-up/past.ts";
import { get, openSandbox } from "../support/sandbox/sandbox.ts";

/** Bytes in use once garbage is collected. */
function heapAfterCollection(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}

test("200,000 documents and 100,000 clients fit in 500 MB, and their last page is answered", async () => {
  expect(volumesOf(200_000).clients).toBe(100_000);
  const heapBefore = heapAfterCollection();
  const sandbox = await openSandbox({ records: 200_000 });
  const heard = await get(sandbox, "/invoices?perPage=500&page=200&sortBy=number&sortDirection=asc");
  expect(heard.json["paginator"]).toMatchObject({
    totalResults: 100_000,
    totalPages: 200,
    currentTo: 100_000,
  });
  const numbers = heard.data.map(({ number }) => String(number));
  expect(numbers).toEqual(numbers.toSorted());
  expect(heapAfterCollection() - heapBefore).toBeLessThan(500_000_000);
});
