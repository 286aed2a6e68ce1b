import { describe, expect, test } from "vitest";
import { ForbiddenError, UnavailableError } from "../../src/connector/service-errors.ts";
import type { ServiceRequest, Transport } from "../../src/connector/transport.ts";
import { estimateRun } from "../../src/sync/plan/estimate.ts";
import { resourceOf } from "../support/mirror/mirror.ts";

const names = ["shop", "colours", "counters", "people", "orders", "receipts", "notes"];
const all = names.map(resourceOf);

/** Answers each list with so many records in all, as few of them as were asked for. */
function service(totals: Readonly<Record<string, number | Error>>, asked: ServiceRequest[] = []): Transport {
  return {
    send: async (request) => {
      asked.push(request);
      const total = totals[request.path] ?? 0;
      if (total instanceof Error) throw total;
      const perPage = request.query?.["perPage"];
      const data = Array.from({ length: Math.min(total, Number(perPage ?? total)) }, (_, i) => ({
        id: i + 1,
        score: i,
      }));
      const paginator = { currentPage: 1, perPage, totalResults: total, totalPages: total };
      const body = Buffer.from(JSON.stringify({ data, ...(perPage !== undefined && { paginator }) }));
      return { status: 200, headers: {}, body, requestId: null, attempts: 1 };
    },
  };
}

const holding = (count: number, parents = 0, waiting = 0) => ({
  counts: () => ({ live: count, deleted: 0, provisional: 0 }),
  parentsRead: () => parents,
  waiting: () => waiting,
});
const usual = { full: false, parentsPerRun: "auto" } as const;

/** Parents' lists that a run reads, of 12 parents with so many read before. */
const child = async (parentsPerRun: "auto" | "all" | number, full = false, read = 9) => {
  const known = holding(12, read);
  const options = { full, parentsPerRun };
  return (await estimateRun(service({}), [resourceOf("notes")], known, options)).get("notes")?.child;
};

describe("the estimate of a run", () => {
  test("takes one small request per list", async () => {
    const asked: ServiceRequest[] = [];
    const totals = { "/people": 5, "/orders": 7, "/colours": 3, "/counters": 2 };
    const estimates = await estimateRun(service(totals, asked), all, null, usual);
    expect(Object.fromEntries(estimates)).toEqual({
      shop: { list: 1, detail: 0, child: 0, records: 1 },
      colours: { list: 1, detail: 0, child: 0, records: 3 },
      counters: { list: 2, detail: 0, child: 0, records: 4 },
      people: { list: 3, detail: 0, child: 0, records: 5 },
      orders: { list: 3, detail: 7, child: 0, records: 7 },
      receipts: { list: 0, detail: 0, child: 0, records: null },
      notes: { list: 0, detail: 0, child: 5, records: null },
    });
    expect(asked).toHaveLength(5);
    expect(asked.find(({ path }) => path === "/people")?.query).toEqual({
      sortBy: "id",
      perPage: 1,
      page: 1,
    });
    expect(asked.every(({ method }) => method === "GET")).toBe(true);
  });

  test("counts only the details that the mirror lacks, all of them in a full run", async () => {
    const orders = [resourceOf("orders")];
    const detail = async (known: number, full: boolean) =>
      (await estimateRun(service({ "/orders": 7 }), orders, holding(known), { ...usual, full })).get("orders")
        ?.detail;
    expect(await detail(4, false)).toBe(3);
    expect(await detail(9, false)).toBe(0);
    expect(await detail(4, true)).toBe(7);
  });

  test("counts what an earlier run left in the queue: details, confirmations and lists of parents", async () => {
    const known = holding(4, 12, 2);
    const totals = { "/people": 4, "/orders": 7 };
    const estimates = await estimateRun(service(totals), all, known, usual);
    const { people, orders, notes } = Object.fromEntries(estimates);
    expect([people?.detail, orders?.detail, notes?.child]).toEqual([2, 5, 2]);
  });

  test("takes parents that are not read in this run from the mirror", async () => {
    const estimates = await estimateRun(service({}), [resourceOf("notes")], holding(12), usual);
    expect(estimates.get("notes")?.child).toBe(12);
  });

  test("counts only parents whose list was never read, or as many as the config says", async () => {
    const none = 0;
    expect([await child("auto"), await child("all", false, none), await child(5, false, none)]).toEqual([
      3, 12, 5,
    ]);
    expect([
      await child("auto", true, none),
      await child("auto", false, 12),
      await child(5, true, none),
    ]).toEqual([12, 0, 12]);
  });

  test("leaves out the parents' lists that the runs read which this one continues", async () => {
    expect([await child("all", false, 4), await child(5, false, 4), await child(5, false, 9)]).toEqual([
      8, 1, 0,
    ]);
  });

  test("counts details where the list shows records in part", async () => {
    for (const [key, detail] of [
      ["score", 0],
      ["stocks", 3],
    ] as const) {
      const people = { ...resourceOf("people"), fullWhen: ["id", key] };
      const estimates = await estimateRun(service({ "/people": 5 }), [people], holding(2), usual);
      expect(estimates.get("people")?.detail).toBe(detail);
    }
  });

  test("of an empty list is one page", async () => {
    const estimates = await estimateRun(service({}), [resourceOf("people")], null, usual);
    expect(estimates.get("people")).toEqual({ list: 1, detail: 0, child: 0, records: 0 });
  });

  test("continues after a list whose paginator is of another page", async () => {
    const page = {
      body: Buffer.from(
        JSON.stringify({ data: [], paginator: { currentPage: 2, perPage: 1, totalResults: 5 } }),
      ),
    };
    const transport = {
      send: async () => ({ status: 200, headers: {}, requestId: null, attempts: 1, ...page }),
    };
    const estimates = await estimateRun(transport, [resourceOf("people")], null, usual);
    expect(estimates.get("people")).toMatchObject({ list: 1, error: "GET /people returned page 2" });
  });

  test("continues after a list that the token may not read, but not when the service is away", async () => {
    const two = [resourceOf("people"), resourceOf("orders")];
    const closed = service({ "/people": new ForbiddenError("not yours"), "/orders": 1 });
    const estimates = await estimateRun(closed, two, null, usual);
    const error = "not yours";
    expect(estimates.get("people")).toEqual({ list: 1, detail: 0, child: 0, records: null, error });
    expect(estimates.get("orders")?.records).toBe(1);
    const away = service({ "/people": new UnavailableError("503") });
    await expect(estimateRun(away, two, null, usual)).rejects.toThrow("503");
  });
});
