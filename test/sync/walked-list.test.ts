import { describe, expect, test } from "vitest";
import { silentLog } from "../../src/base/logger.ts";
import { isoTime } from "../../src/base/clock.ts";
import * as schema from "../../src/connector/record-schema.ts";
import { defineResource } from "../../src/connector/resource.ts";
import { NotFoundError } from "../../src/connector/service-errors.ts";
import type { ServiceAnswer, ServiceRequest } from "../../src/connector/transport.ts";
import { expectedRecords } from "../../src/state/sweeps.ts";
import { WorkQueue } from "../../src/state/work-queue.ts";
import { Tally } from "../../src/sync/context/tally.ts";
import { judgeWalk } from "../../src/sync/apply/walked-list.ts";
import { runSync } from "../../src/sync/run/sync-run.ts";
import { manifestOf, openHasty, resourceOf } from "../support/mirror/mirror.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { startMs } from "../support/mirror/store.ts";

const dayMs = 24 * 3_600_000;
const hourMs = 3_600_000;

const parcels = defineResource({
  name: "parcels",
  singular: "parcel",
  title: "Parcels",
  origin: "published",
  record: schema.record({ id: schema.integer(), updated_at: schema.timestamp() }),
  list: {
    kind: "walked",
    path: "/parcels",
    pageSize: 3,
    changes: { since: "updated_since", stamp: "updated_at", overlapMs: hourMs },
  },
  detail: "/parcels/{id}",
});

interface Parcel {
  readonly id: number;
  readonly updated_at: string;
}

const nothing = () => undefined;

/** A service whose lists name no total, newest id first, and a mirror of it. */
async function opened(ids: readonly number[], { pageSize = 3, hasPages = true } = {}) {
  const shop = manifestOf([resourceOf("shop"), parcels]);
  const identity = { ...shop.identity, businessIdIn: [], proofs: [] };
  const manifest = { ...shop, identity, cascades: [] };
  const mirror = await openHasty({ manifest });
  let nowMs = startMs;
  let held: Parcel[] = ids.map((id) => ({ id, updated_at: isoTime(nowMs - (30 - id) * dayMs) }));
  const asked: string[] = [];
  /** Called after each request, with its number from 1. */
  let between: (asked: number) => unknown = nothing;
  const answer = ({ path, query = {} }: ServiceRequest): unknown => {
    if (path === "/shop") return { name: "Acme" };
    const [, id] = /^\/parcels\/(\d+)$/.exec(path) ?? [];
    if (id !== undefined) return held.find((one) => one.id === Number(id));
    const since = String(query["updated_since"] ?? "");
    const listed = held.filter((one) => one.updated_at >= since).toSorted((a, b) => b.id - a.id);
    const from = hasPages ? (Number(query["page"]) - 1) * pageSize : 0;
    return listed.slice(from, from + pageSize);
  };
  const send = async (request: ServiceRequest): Promise<ServiceAnswer> => {
    request.onSent?.();
    const since = request.query?.["updated_since"] === undefined ? "" : " since";
    if (request.path !== "/shop")
      asked.push(`${request.path} ${request.query?.["page"] ?? ""}${since}`.trim());
    const found = answer(request);
    between(asked.length);
    if (found === undefined)
      throw new NotFoundError("no such parcel", { serviceMessage: "gone", status: 404 });
    return {
      status: 200,
      headers: {},
      body: Buffer.from(JSON.stringify(found)),
      requestId: null,
      attempts: 1,
    };
  };
  const clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: async (ms: number) => void (nowMs += ms),
  };
  const run = async (acceptIdentity = false) => {
    asked.length = 0;
    const parts = {
      mirror,
      queue: new WorkQueue(mirror.db),
      transport: { send },
      clock,
      random: seededRandom(1),
    };
    const notices = { newColumns: [], missingFields: new Set<string>(), unkeptFields: new Set<string>() };
    const more = { log: silentLog, token: "token", tally: new Tally(), rateLimited: () => 0, notices };
    const never = new AbortController().signal;
    const limits = { concurrency: 1, longestOutageMs: 60_000, signal: never, closed: never, graceMs: 30_000 };
    const report = await runSync(
      { ...parts, ...more },
      {
        resources: manifest.resources,
        full: false,
        allowMassDelete: false,
        acceptIdentity,
        parentsPerRun: "auto",
        scrub: null,
        share: "all",
        wholeLists: { everyMs: 7 * dayMs, mostRequests: null },
        ...limits,
      },
    );
    between = nothing;
    return report;
  };
  return {
    run,
    asked,
    pass: (ms: number) => void (nowMs += ms),
    change: (id: number) => {
      held = [...held.filter((one) => one.id !== id), { id, updated_at: isoTime(nowMs) }];
    },
    remove: (id: number) => void (held = held.filter((one) => one.id !== id)),
    whenAsked: (act: (asked: number) => unknown) => void (between = act),
    expected: () => expectedRecords(mirror.meta, parcels),
    live: () =>
      mirror.records.liveIds("parcels", Number.MAX_SAFE_INTEGER).toSorted((a, b) => Number(a) - Number(b)),
  };
}

const seven = [1, 2, 3, 4, 5, 6, 7];

describe("a list without a total", () => {
  test("is read to a page that is not full, and once more when it was never read whole", async () => {
    const service = await opened(seven);
    const report = await service.run();
    expect(service.asked).toEqual([1, 2, 3, 1, 2, 3].map((page) => `/parcels ${page}`));
    expect(report).toMatchObject({ outcome: "complete", swept: { parcels: isoTime(startMs) } });
    expect(service.live()).toEqual(seven);
  });

  test("ends with an empty page where the last one is full or the only one", async () => {
    const cases: [number[], number[]][] = [
      [
        [1, 2, 3],
        [1, 2, 1, 2],
      ],
      [
        [1, 2],
        [1, 2],
      ],
      [[], [1]],
    ];
    for (const [ids, pages] of cases) {
      const service = await opened(ids);
      await service.run();
      expect(service.asked).toEqual(pages.map((page) => `/parcels ${page}`));
    }
  });

  // Fault: pagination | the service shows fewer records on a page than it documents | a list without a total | its pages are read to a shorter one, those of the list of changes too
  test("I12: is read whole where a page has fewer records than documented", async () => {
    const service = await opened(seven, { pageSize: 2 });
    await service.run();
    expect(service.live()).toEqual(seven);
    service.pass(dayMs);
    for (const id of [1, 2, 8, 9, 10]) service.change(id);
    const report = await service.run();
    expect(service.asked[0]).toBe("/parcels 1 since");
    expect(report.resources["parcels"]).toMatchObject({ inserted: 3, updated: 2 });
  });

  test("is read whole where the service shows all of it whatever page is asked for", async () => {
    const service = await opened([1, 2], { hasPages: false });
    expect(await service.run()).toMatchObject({ outcome: "complete", swept: { parcels: isoTime(startMs) } });
    expect(service.asked).toEqual(["/parcels 1", "/parcels 2"]);
  });

  // Fault: pagination | a deletion moves an unread record to a page already read | a list without a total | the second reading shows it
  test("I11: a record that a deletion hid from the first reading is shown by the second", async () => {
    const service = await opened(seven);
    service.whenAsked((asked) => asked === 1 && service.remove(7));
    expect(await service.run()).toMatchObject({ outcome: "complete" });
    expect(service.live()).toEqual([1, 2, 3, 4, 5, 6]);
  });

  // Fault: pagination | every page repeats the first one | a list without a total | the reading ends, and the run says so
  test("whose pages repeat is given up after one of them", async () => {
    const verdict = judgeWalk(
      { pages: 2, startedSeq: 1, startedAt: "" },
      { ids: [1, 1], withoutId: [] },
      { earlier: null, wasWhole: false, isRepeated: true },
    );
    expect(verdict).toMatchObject({ kind: "dead end", why: "page 2 showed nothing new" });
  });
});

describe("a list of changes", () => {
  test("is all that a usual night reads: one request while a page holds what changed", async () => {
    const service = await opened(seven);
    await service.run();
    service.pass(dayMs);
    service.change(7);
    service.change(8);
    const report = await service.run();
    expect(service.asked).toEqual(["/parcels 1 since"]);
    expect(report).toMatchObject({
      outcome: "complete",
      resources: { parcels: { inserted: 1, updated: 1 } },
    });
    service.pass(dayMs);
    expect((await service.run()).resources["parcels"]).toMatchObject({ unchanged: 2, updated: 0 });
  });

  test("counts anew how many records there are", async () => {
    const service = await opened(seven);
    await service.run();
    expect(service.expected()).toBe(7);
    service.pass(dayMs);
    service.change(8);
    await service.run();
    expect(service.expected()).toBe(8);
  });

  test("I5: proves no deletion; the whole list is read when it is due, and its 404 does", async () => {
    const service = await opened(seven);
    await service.run();
    service.remove(4);
    service.pass(dayMs);
    await service.run();
    expect(service.live()).toEqual(seven);
    service.pass(7 * dayMs);
    const report = await service.run();
    expect(service.asked.slice(0, 2)).toEqual(["/parcels 1", "/parcels 2"]);
    expect(service.asked).toContain("/parcels/4");
    expect(report.resources["parcels"]).toMatchObject({ deleted: 1 });
    expect(service.live()).toEqual([1, 2, 3, 5, 6, 7]);
  });

  test("of several pages is read until a reading shows nothing new, and a deletion meanwhile hides nothing", async () => {
    const service = await opened(seven);
    await service.run();
    service.pass(dayMs);
    for (const id of seven) service.change(id);
    service.whenAsked((asked) => asked === 1 && service.remove(7));
    expect(await service.run()).toMatchObject({ outcome: "complete" });
    expect(service.asked.every((one) => one.endsWith("since"))).toBe(true);
    service.pass(dayMs);
    expect((await service.run()).resources["parcels"]).toMatchObject({ updated: 0 });
  });

  test("I10, I11: is not enough where another company's token is accepted: its whole list is read", async () => {
    const service = await opened(seven);
    await service.run();
    service.pass(dayMs);
    await service.run(true);
    expect(service.asked).toEqual(["/parcels 1", "/parcels 2", "/parcels 3"]);
  });

  // Fault: pagination | a deletion moves a new record to a page already read | the whole list, read once more after weeks | the next list of changes shows it
  test("I11: what is new, and was hidden from the whole list by a deletion, is in the next list of changes", async () => {
    const service = await opened([1, 2, 3, 4, 6, 7, 8]);
    await service.run();
    service.pass(8 * dayMs);
    service.change(5);
    service.pass(2 * hourMs);
    service.change(8);
    service.whenAsked((asked) => asked === 1 && service.remove(7));
    await service.run();
    expect(service.asked.slice(0, 2)).toEqual(["/parcels 1", "/parcels 2"]);
    service.pass(dayMs);
    await service.run();
    expect(service.live()).toContain(5);
  });

  test("what changes while the whole list is read is in the next list of changes", async () => {
    const service = await opened(seven);
    await service.run();
    service.pass(8 * dayMs);
    service.whenAsked((asked) => {
      // Its page was read, and then it moved and changed; a later change has a newer stamp.
      if (asked !== 3) return;
      service.change(9);
      service.pass(hourMs / 2);
      service.change(1);
    });
    await service.run();
    service.pass(dayMs);
    await service.run();
    expect(service.live()).toEqual([...seven, 9]);
  });
});
