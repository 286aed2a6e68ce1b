import { describe, expect, test } from "vitest";
import type { QuickPlan, Resource } from "../../src/connector/resource.ts";
import type { PageFacts } from "../../src/extract/answers.ts";
import type { PagePayload } from "../../src/extract/work-request.ts";
import type { RunContext } from "../../src/sync/context/run-context.ts";
import type { NewWorkItem } from "../../src/state/work-item.ts";
import { handleFailure } from "../../src/sync/apply/handle-failure.ts";
import { addQuickWork, followQuickPage, quickLists } from "../../src/sync/plan/quick-reads.ts";
import { notFound } from "../support/errors.ts";
import { declarationOf, openHasty, resourceOf, resources } from "../support/mirror/mirror.ts";
import { order } from "../support/mirror/shop-records.ts";
import { put, remove, startMs, texts } from "../support/mirror/store.ts";
import { answerTo, leaseNext, runContextOf, waiting } from "../support/mirror/run.ts";

const params = { sortBy: "number" };
const open = { param: "remark", values: ["unpaid", "late"], column: "remark" };
const since = { param: "issuedSince", days: 3 };
const latestFirst = { sortBy: "changedAt" };

/** Orders, of which a quick run reads these lists. */
function ordersWith(quick: QuickPlan): Resource {
  const list = { kind: "paged", path: "/orders", perPage: 3, params, quick } as const;
  return { ...resourceOf("orders"), list };
}

async function aQuickRun(quick: QuickPlan): Promise<RunContext> {
  const list = Object.values({ ...resources, orders: ordersWith(quick) });
  const mirror = await openHasty({ declaration: declarationOf(list) });
  const run = runContextOf(mirror, { share: "quick" }, ["orders"]);
  addQuickWork(run);
  return run;
}

function pages(run: RunContext): PagePayload[] {
  const queued = texts(run.mirror, "SELECT payload FROM _work WHERE kind = 'list' ORDER BY id");
  return queued.map((payload) => JSON.parse(payload) as PagePayload);
}

const nextOf = (run: RunContext) => leaseNext(run.queue, ["orders"], "quick");

/** Takes the next page from the queue and follows it: it showed these records, so many of them new. */
function follow(
  run: RunContext,
  ids: readonly number[],
  { changes = 0, ...more }: Partial<PageFacts> & { readonly changes?: number } = {},
  item = nextOf(run),
): void {
  const { page } = item.payload as PagePayload;
  const facts = { page, pages: 99, perPage: 3, total: 297, overstated: false, ...more };
  const answer = answerTo(run, item);
  run.mirror.apply(() => followQuickPage(answer, facts, { ids, changes }));
  run.queue.done(item, answer.stamp.sentSeq);
  run.queue.release(item);
}

const some = [1, 2, 3];
const last = { pages: 1 };

describe("the lists of a quick run", () => {
  test("are those since a day, of each open state, and with the latest changes first, in this order", () => {
    expect(quickLists(ordersWith({ since, open, latestFirst }), startMs)).toEqual([
      { kind: "all", params: { ...params, issuedSince: "2026-02-26" } },
      { kind: "open", params: { ...params, remark: "unpaid" } },
      { kind: "open", params: { ...params, remark: "late" } },
      { kind: "latest", params: latestFirst },
    ]);
  });

  test("are none where the connector names none, or the list has no pages", () => {
    expect(quickLists(ordersWith({}), startMs)).toEqual([]);
    for (const name of ["orders", "colours", "notes"])
      expect(quickLists(resourceOf(name), startMs)).toEqual([]);
  });

  test("begin with their first page in the lane of quick reads, and drop what the last quick run left", async () => {
    const run = await aQuickRun({ since, open });
    addQuickWork(run);
    const begun = pages(run).map(({ page, variant, quick }) => `${page}${variant} ${quick?.kind}`);
    expect(begun).toEqual(["1 all", "1 open", "1 open"]);
    expect(texts(run.mirror, "SELECT DISTINCT reason FROM _work")).toEqual(["quick"]);
    expect(nextOf(run).lane).toBe("quick");
    addQuickWork({ ...run, resources: [] });
    expect(waiting(run)).toEqual([]);
  });

  test("that come in one answer are read whole, each variant of them", async () => {
    const names = ["colours", "counters", "people", "notes"];
    const run = runContextOf(await openHasty(), { share: "quick" }, names);
    addQuickWork(run);
    const whole = { page: 1, quick: { kind: "all", params: {} } };
    const variants = ["", "order", "credit-note"];
    expect(pages(run)).toEqual(variants.map((variant) => ({ variant, ...whole })));
    expect(run.openRecords.size).toBe(0);
  });
});

describe("what follows from a page of a quick run", () => {
  test("is the next one, of the size that the service gives, until the last", async () => {
    const run = await aQuickRun({ since });
    follow(run, some, { pages: 2 });
    expect(pages(run)).toEqual([{ ...pages(run)[0], page: 2 }]);
    expect(pages(run)[0]).not.toHaveProperty("perPage");
    follow(run, some, { pages: 2 });
    expect(waiting(run)).toEqual([]);
    const smaller = await aQuickRun({ since });
    follow(smaller, some, { perPage: 2 });
    expect(pages(smaller)).toMatchObject([{ page: 2, perPage: 2 }]);
  });

  test("is nothing after a page without records", async () => {
    const run = await aQuickRun({ since });
    follow(run, []);
    expect(waiting(run)).toEqual([]);
  });

  test.each([
    ["latest changes", { latestFirst }, 5],
    ["records since a day", { since }, 20],
  ])("of %s is read for at most so many pages", async (_, quick, most) => {
    const run = await aQuickRun(quick);
    let read = 0;
    for (; waiting(run).length > 0 && read < 50; read++) follow(run, some, { changes: 1 });
    expect(read).toBe(most);
  });

  test("of latest changes is read while pages show news", async () => {
    const run = await aQuickRun({ latestFirst });
    follow(run, some, { changes: 1 });
    follow(run, some, { changes: 0 });
    expect(waiting(run)).toEqual([]);
  });

  test("is nothing where the page is of no quick run", async () => {
    const run = await aQuickRun({ since });
    const item = nextOf(run);
    const { quick: _quick, ...payload } = item.payload as PagePayload;
    follow(run, some, { changes: 1 }, { ...item, payload });
    expect(waiting(run)).toEqual([]);
  });
});

async function withOrders(quick: QuickPlan = { open }) {
  const run = await aQuickRun(quick);
  const remarks = { 1: "unpaid", 2: "unpaid", 3: "late", 4: "paid", 5: "unpaid" };
  for (const [id, remark] of Object.entries(remarks))
    put(run.mirror, "orders", order(Number(id), { remark }), { source: "detail" });
  remove(run.mirror, "orders", 5);
  return run;
}
const closed = (run: RunContext) => waiting(run).filter((row) => row.endsWith(" closed"));

describe("records that were open", () => {
  test("are read when no list of open records shows them, after the last page of the last of these lists", async () => {
    const run = await withOrders();
    follow(run, [1], { pages: 2 });
    expect(closed(run)).toEqual([]);
    // The other list is next: it shows nothing.
    follow(run, [], last);
    expect(closed(run)).toEqual([]);
    follow(run, [9], { pages: 2 });
    expect(closed(run)).toEqual(["orders id:2 detail closed", "orders id:3 detail closed"]);
  });

  test("are not read when a list of open records is too long to be read to its end", async () => {
    const run = await withOrders({ open: { ...open, values: ["unpaid"] } });
    for (let i = 0; i < 20; i++) follow(run, [9]);
    expect(waiting(run)).toEqual([]);
  });

  test("are not judged by lists of other kinds", async () => {
    const run = await withOrders({ since, open: { ...open, values: ["unpaid"] } });
    follow(run, [1], last);
    expect(closed(run)).toEqual([]);
    follow(run, [2], last);
    expect(closed(run)).toEqual(["orders id:1 detail closed"]);
  });

  test("are at most 200 of one resource", async () => {
    const run = await aQuickRun({ open: { ...open, values: ["late"] } });
    run.mirror.apply(() => {
      for (let id = 1; id <= 201; id++)
        put(run.mirror, "orders", order(id, { remark: "late" }), { source: "detail" });
    });
    follow(run, [], last);
    expect(closed(run)).toHaveLength(200);
  });
});

describe("records that a quick run reads", () => {
  test("are those that the last one left, and changed ones of the backlog that its lists show", async () => {
    const run = await aQuickRun({ since });
    const add = (lane: NewWorkItem["lane"], target: string, reason = "changed") =>
      run.queue.add({ kind: "detail", resource: "orders", target, lane, reason, dirtySeq: 1 });
    add("quick", "id:1");
    add("changed", "id:2");
    add("hydration", "id:3", "new");
    // A scrub that was killed left one, a full run another.
    add("scrub", "id:4", "scrub");
    add("hydration", "id:5", "full");
    addQuickWork(run);
    // Its lists show all but the first.
    for (const id of [2, 4, 5]) add("quick", `id:${id}`);
    add("quick", "id:3", "new");
    const read = [1, 2, 3, 4, 5].map(() => nextOf(run).target).filter((target) => target.startsWith("id:"));
    expect(read).toEqual(["id:1", "id:2", "id:4", "id:5"]);
    expect(run.queue.lease(startMs, ["orders"], "quick")).toBeNull();
  });

  test("and finds gone are left to whole runs, also a deletion that one of them had to confirm (I5, I11)", async () => {
    const run = await withOrders();
    const add = (more: Pick<NewWorkItem, "kind" | "lane" | "target" | "reason">) =>
      run.queue.add({ resource: "orders", dirtySeq: 1, rank: -1, ...more });
    add({ kind: "confirm", lane: "changed", target: "id:2", reason: "absent" });
    add({ kind: "detail", lane: "quick", target: "id:2", reason: "closed" });
    add({ kind: "detail", lane: "quick", target: "id:3", reason: "closed" });
    for (const answer of [1, 2].map(() => answerTo(run, nextOf(run)))) {
      run.mirror.apply(() => handleFailure(answer, notFound("No query results"), { kind: "missing" }));
      run.queue.release(answer.item);
    }
    expect(run.mirror.records.isLive("orders", 2)).toBe(true);
    const left = waiting(run).filter((row) => row.startsWith("orders id:"));
    expect(left).toEqual(["orders id:2 confirm closed", "orders id:3 detail closed"]);
    expect(run.queue.lease(startMs, ["orders"], "others")?.lane).toBe("changed");
  });

  test("and finds gone stay with the event worker where an event came meanwhile (I4)", async () => {
    const run = await withOrders();
    const asked = { resource: "orders", target: "id:2", rank: -1, dirtySeq: 1 } as const;
    run.queue.add({ ...asked, kind: "detail", lane: "quick", reason: "closed" });
    const answer = answerTo(run, nextOf(run));
    run.queue.add({ ...asked, kind: "confirm", lane: "webhook", reason: "orders.deleted" });
    run.mirror.apply(() => handleFailure(answer, notFound("No query results"), { kind: "missing" }));
    run.queue.release(answer.item);
    expect(run.queue.lease(startMs, ["orders"], "events")?.target).toBe("id:2");
  });
});
