import { describe, expect, test } from "vitest";
import { ForbiddenError, UnavailableError } from "../../src/connector/service-errors.ts";
import type { ServiceRequest, Transport } from "../../src/connector/transport.ts";
import {
  estimateRun,
  minutesFor,
  minutesText,
  planRun,
  scrubText,
  countRecords,
} from "../../src/sync/plan/estimate.ts";
import { resourceOf } from "../support/mirror/mirror.ts";
import { answerOf } from "../support/mirror/whole-run.ts";

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
      const length = Math.min(total, Number(perPage ?? total));
      const data = Array.from({ length }, (_, i) => ({ id: i + 1, score: i }));
      const paginator = { currentPage: 1, perPage, totalResults: total, totalPages: total };
      return answerOf({ data, ...(perPage !== undefined && { paginator }) });
    },
  };
}

const holding = (count: number, parents = 0, waiting = 0) => ({
  counts: () => ({ live: count, deleted: 0, provisional: 0 }),
  parentsRead: () => parents,
  waiting: () => waiting,
  listsRead: new Set<string>(),
  wholeLists: new Map<string, number>(),
});
/** So many pages of its whole list are read in this run. */
const withPages = (pages: number) => ({ ...holding(12), wholeLists: new Map([["people", pages]]) });
const usual = { full: false, parentsPerRun: "auto" } as const;

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
    const query = { sortBy: "id", perPage: 1, page: 1 };
    expect(asked.find(({ path }) => path === "/people")?.query).toEqual(query);
    expect(new Set(asked.map(({ method }) => method))).toEqual(new Set(["GET"]));
  });

  test("asks with the params that are named in place of the connector's order", async () => {
    const asked: ServiceRequest[] = [];
    const counted = await countRecords(service({ "/people": 5 }, asked), resourceOf("people"), { open: "1" });
    expect([counted.records, asked[0]?.query]).toEqual([5, { open: "1", perPage: 1, page: 1 }]);
  });

  test("counts only the details that the mirror lacks, all of them in a full run", async () => {
    const seven = service({ "/orders": 7 });
    const detail = async (known: number, full: boolean) => {
      const found = await estimateRun(seven, [resourceOf("orders")], holding(known), { ...usual, full });
      return found.get("orders")?.detail;
    };
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

  test.each([
    ["auto", false, 9, 3],
    ["auto", false, 12, 0],
    ["all", false, 4, 8],
    [5, false, 4, 1],
    [5, false, 9, 0],
    [5, true, 0, 12],
  ] as const)(
    "of 12 parents' lists, %s in every run (a full one: %s), %i read before: %i",
    async (parentsPerRun, full, read, expected) => {
      const options = { full, parentsPerRun };
      const estimates = await estimateRun(service({}), [resourceOf("notes")], holding(12, read), options);
      expect(estimates.get("notes")?.child).toBe(expected);
    },
  );

  test("counts details where the list shows records in part", async () => {
    for (const key of ["score", "stocks"]) {
      const people = { ...resourceOf("people"), fullWhen: ["id", key] };
      const estimates = await estimateRun(service({ "/people": 5 }), [people], holding(2), usual);
      expect(estimates.get("people")?.detail).toBe(key === "score" ? 0 : 3);
    }
  });

  test("leaves out the lists that the run which it continues has read", async () => {
    const known = { ...holding(4), listsRead: new Set(["orders"]) };
    const estimates = await estimateRun(service({ "/orders": 7 }), all, known, usual);
    const lists = ["orders", "people"].map((name) => estimates.get(name));
    expect(lists).toMatchObject([{ list: 0, detail: 3, records: 7 }, { list: 1 }]);
  });

  const changes = { since: "since", stamp: "updated_at", overlapMs: 0 };
  const noTotal = "the service names no total: at least so many";

  test.each([
    ["of its changes alone", holding(12), {}, changes, { list: 1, records: 12 }],
    ["whole, when it is due", withPages(Infinity), {}, changes, { list: 5, records: 12 }],
    ["in parts beside its changes", withPages(2), {}, changes, { list: 3, records: 12 }],
    ["to its end beside its changes", withPages(9), {}, changes, { list: 6, records: 12 }],
    ["whole in a full run", withPages(2), { full: true }, changes, { list: 5, records: 12 }],
    ["whole where it names no changes", withPages(2), {}, undefined, { list: 5, records: 12 }],
    ["of nobody knows how many at first", null, {}, changes, { list: 1, records: null, error: noTotal }],
  ])("of a list without a total is %s", async (_case, known, asked, follows, expected) => {
    const list = { kind: "walked", path: "/people", pageSize: 3, ...(follows && { changes }) } as const;
    const people = { ...resourceOf("people"), list };
    const estimates = await estimateRun(service({}), [people], known, { ...usual, ...asked });
    expect(estimates.get("people")).toEqual({ detail: 0, child: 0, ...expected });
  });

  test("continues after a list whose paginator is of another page", async () => {
    const paginator = { currentPage: 2, perPage: 1, totalResults: 5 };
    const transport = { send: async () => answerOf({ data: [], paginator }) };
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

const budget = { granted: 120, windowMs: 60_000 };

test("each part of a run has its requests and the minutes that the granted budget needs", () => {
  const requests = { lists: 64, missing: 12_500, scrub: 3_600 };
  expect(planRun(requests, { total: 12_500, nights: 4 }, budget)).toEqual({
    lists: { requests: 64, minutes: 0 },
    missing: { requests: 12_500, minutes: 104 },
    scrub: { requests: 3_600, minutes: 29, total: 12_500, nights: 4 },
    minutes: 134,
  });
  const half = planRun(requests, { total: 12_500, nights: 4 }, { ...budget, granted: 60 });
  expect(half.scrub.minutes).toBe(59);
});

const text = (total: number, nights: number, requests: number) =>
  scrubText(planRun({ lists: 0, missing: 0, scrub: requests }, { total, nights }, budget).scrub);

test("how often everything is proved is said in words", () => {
  expect(text(12_500, 4, 3_600)).toBe(
    "3,600 of 12,500, about 29 minutes; every detail and CRM parent read so far is proved every 4 nights",
  );
  expect(text(100, 1, 100)).toContain("100 of 100, less than a minute; every detail");
  expect(text(100, 1, 100)).toContain("proved every night");
  expect(text(0, 0, 0)).toBe("nothing yet");
});

test("how long something takes is said in whole words", () => {
  expect([0, 0.9].map(minutesText)).toEqual(Array(2).fill("less than a minute"));
  expect([1, 1.1, 2].map(minutesText)).toEqual(["about a minute", "about 1.1 minutes", "about 2 minutes"]);
});

test("the last window of requests costs no time, and a budget of nothing is one request in a window", () => {
  expect([0, 1, 120, 121, 240, 241].map((requests) => minutesFor(requests, budget))).toEqual([
    0, 0, 0, 1, 1, 2,
  ]);
  expect(minutesFor(3, { granted: 0, windowMs: 60_000 })).toBe(2);
  expect(minutesFor(3, { granted: 1, windowMs: 6_000 })).toBe(0.2);
  expect(minutesFor(50_000, { granted: 1, windowMs: 60_000 })).toBe(49_999);
});
