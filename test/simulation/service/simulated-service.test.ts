import { describe, expect, test } from "vitest";
import { seededRandom } from "../../support/seeded-random.ts";
import { VirtualClock } from "../../support/virtual/virtual-clock.ts";
import { limiterKinds, type LimiterKind } from "../../support/rate-limit/simulated-budget.ts";
import { allRecordsNow, recordsNow, wasGoneAfter } from "./service-truth.ts";
import { tableNames, type ServiceOptions } from "./service-types.ts";
import { SimulatedService } from "./simulated-service.ts";
import { WebhookSender, type Deliver } from "./webhook-sender.ts";

const [limiter] = limiterKinds as readonly [LimiterKind, ...LimiterKind[]];

function aService(options: Partial<ServiceOptions> = {}) {
  const clock = new VirtualClock(Date.parse("2026-11-01T02:00:00Z"));
  const service = new SimulatedService({ random: seededRandom(7), clock, limiter, ...options });
  const get = (target: string, token?: string) => {
    const url = new URL(target, "http://simulated.example");
    return service.answer(url.pathname, url.searchParams, token === undefined ? {} : { token });
  };
  return { clock, service, get };
}

/** What people did with this seed, and what the service shows then. */
function trace(seed: number): string {
  const { service } = aService({ random: seededRandom(seed) });
  const acts = Array.from({ length: 30 }, () => service.act());
  return JSON.stringify([acts, [...allRecordsNow(service)].map(([, records]) => [...records])]);
}

describe("the simulated service", () => {
  test("does the same for the same seed, and something else for another", () => {
    expect(trace(3)).toBe(trace(3));
    expect(trace(3)).not.toBe(trace(4));
  });

  test("shows a change after its event where reads lag, in the order of changes", async () => {
    const { clock, service } = aService({ lag: "commit", lagMs: 5_000 });
    const shown = () => JSON.stringify([...allRecordsNow(service)].map(([, records]) => [...records]));
    const before = shown();
    while (service.events.length === 0) service.act();
    expect(shown()).toBe(before);
    await clock.sleep(5_001);
    expect(shown()).not.toBe(before);
  });

  test("lists every record once over its pages, and refuses larger pages", () => {
    const { service, get } = aService({ mostPerPage: 2, size: 8 });
    expect(get("/invoices?perPage=3").status).toBe(422);
    const pages = [1, 2, 3, 4, 5, 6, 7, 8].map((page) =>
      get(`/invoices?perPage=2&page=${page}&sortBy=number`),
    );
    const ids = pages.flatMap(({ body }) =>
      (JSON.parse(body) as { data: { id: number }[] }).data.map(({ id }) => id),
    );
    expect(ids.toSorted((a, b) => a - b)).toEqual([...recordsNow(service, "invoices").keys()]);
  });

  test("remembers that a record was gone, also when it is back", () => {
    const { service, get } = aService({ size: 12 });
    const text = new Map([...recordsNow(service, "invoices")].map(([id, { detail }]) => [id, detail]));
    for (let left = 600; left > 0; left--) service.act();
    const isGone = (id: number) => get(`/invoices/${id}`).status === 404;
    for (const id of text.keys())
      if (isGone(id)) expect(wasGoneAfter(service, "invoices", id, text.get(id) ?? "")).toBe(true);
    const never = [...text.keys()].filter((id) =>
      service.company.log.history("invoices", id).every(({ shown }) => shown),
    );
    for (const id of never) expect(wasGoneAfter(service, "invoices", id, text.get(id) ?? "")).toBe(false);
  });

  test("has a listed record of each resource at rest, so that each route can be proved", () => {
    const { clock, service } = aService({ size: 1, deletion: "soft" });
    for (let left = 200; left > 0; left--) service.act();
    service.rest();
    const listed = tableNames.filter((table) =>
      service.company.log.live(table, clock.monotonicMs()).some(([, shown]) => shown.listed !== null),
    );
    expect(listed).toEqual([...tableNames]);
    expect(() => service.act()).toThrow("at rest");
  });

  test("refuses what is above the budget with 429, and other tokens with 401", () => {
    const { service, get } = aService({ limit: 2, tokens: ["a"] });
    expect(
      [get("/units", "b"), get("/units", "a"), get("/units", "a"), get("/units", "a")].map(
        ({ status }) => status,
      ),
    ).toEqual([401, 200, 200, 429]);
    expect(service.limiter.windows.map(({ own, refusedOwn }) => [own, refusedOwn])).toEqual([[2, 1]]);
  });
});

async function sendOne(deliver: Deliver) {
  const { clock } = aService();
  const times: number[] = [];
  const sender = new WebhookSender({
    clock,
    random: seededRandom(1),
    secret: () => "whsec",
    deliver: (headers, body) => {
      times.push(clock.monotonicMs());
      return deliver(headers, body);
    },
  });
  sender.send({ id: "e", type: "invoices.created", occurredAt: "", resource: { type: "invoice", id: 1 } });
  for (let turns = 0; sender.pending > 0 && turns < 100; turns++) await clock.sleep(1_000_000);
  return { sender, times };
}

describe("the simulated sender of webhooks", () => {
  test("tries five times, about 10 s, 100 s, 1,000 s and 10,000 s apart, and counts the gap", async () => {
    const { sender, times } = await sendOne(async () => "lost");
    const waits = times.slice(1).map((atMs, i) => Math.log10((atMs - (times[i] ?? 0)) / 1_000));
    expect(waits.map(Math.round)).toEqual([1, 2, 3, 4]);
    expect(sender.gaps().map(({ id }) => id)).toEqual(["e"]);
  });

  test("stops at the first 2xx", async () => {
    let left = 2;
    const { sender, times } = await sendOne(async () => (left-- > 0 ? 503 : 204));
    expect([times.length, sender.gaps().length]).toEqual([3, 0]);
  });
});
