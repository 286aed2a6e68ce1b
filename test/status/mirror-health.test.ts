import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { hourMs, dayMs } from "../../src/base/clock.ts";
import { Secret } from "../../src/base/secret.ts";
import { openDatabase, type Db } from "../../src/store/database.ts";
import { startMs, put, remove, stampOf } from "../support/mirror/store.ts";
import { declaration as fintoro } from "../../connectors/fintoro/declaration.ts";
import { resourceNamed } from "../../src/connector/connector-declaration.ts";
import type { CompanyConfig } from "../../src/config/config.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { Runs, type RunMode } from "../../src/state/runs.ts";
import { sweptAt as readWholeAt } from "../../src/state/sweeps.ts";
import { readFacts } from "../../src/status/company-view.ts";
import { readHealth } from "../../src/status/mirror-health.ts";
import { declarationOf, openShop, resourceOf } from "../support/mirror/mirror.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { person } from "../support/mirror/shop-records.ts";
import { childPage, page, runContextOf } from "../support/mirror/run.ts";
import { Meta } from "../../src/state/meta.ts";
import {
  ordersKey,
  readEventFacts,
  webhooksCover,
  emptyReceiverNote,
  receiverNoteKey,
} from "../../src/status/event-status.ts";
import { WorkQueue } from "../../src/state/work-queue.ts";
import { endRun } from "../support/mirror/state-rows.ts";

/** A receiver ran in these spans: `0-100 101-240`, hours after the first moment of the tests. */
function receiverRan(db: Db, spans: string): void {
  const insert = db.prepare("INSERT INTO _receiver (started_ms, seen_ms) VALUES (?, ?)");
  for (const [, from, to] of spans.matchAll(/([\d.]+)-([\d.]+)/g))
    insert.run(startMs + Number(from) * hourMs, startMs + Number(to) * hourMs);
}

/** A company that receives nothing, with these resources. */
function scopeOf(...names: readonly string[]) {
  const webhook = { publicUrl: null, secrets: [] };
  const company = { name: "acme", webhook } as unknown as CompanyConfig;
  const declaration = declarationOf();
  return {
    company,
    declaration,
    resources: declaration.resources.filter(({ name }) => names.includes(name)),
  };
}

function receivingScope() {
  const scope = scopeOf();
  const webhook = { ...scope.company.webhook, secrets: [new Secret("some-key")] };
  return { ...scope, company: { ...scope.company, webhook } };
}

const healthOf = (mirror: Mirror, wanted: string) =>
  readHealth(mirror.db, declarationOf()).resources.find(({ name }) => name === wanted);

describe("how a mirror stands", () => {
  test("is read for every resource, beside the process that writes", async () => {
    const path = join(tempFolder(), "shop.db");
    const mirror = await openShop({ path });
    const run = runContextOf(mirror);
    await page(run, "people", [person(1), person(2)], { perPage: 5 });
    remove(mirror, "people", 2);
    put(mirror, "people", { ...person(3), score: "many" });
    put(mirror, "colours", { id: 1, label: "red", shade: "dark" });
    using reader = openDatabase(path, { readonly: true });
    const health = readHealth(reader, declarationOf());
    expect(health.resources.map(({ name }) => name)).toEqual(
      declarationOf().resources.map(({ name }) => name),
    );
    const people = health.resources.find(({ name }) => name === "people");
    expect(people).toMatchObject({ live: 1, deleted: 1, sweptAt: "2026-03-01T00:00:00.000Z" });
    expect(health.quarantine).toMatchObject([{ resource: "people", recordId: 3 }]);
    expect(health.newColumns).toEqual(["colours.shade"]);
    expect(health.schemaChanges).toMatchObject([
      { field: "people.score", type: "text", record: "3" },
      { field: "colours.shade", type: null, record: "1", at: "2026-03-01T00:00:00.000Z" },
    ]);
    expect(health.queue).toContainEqual({ resource: "notes", kind: "child", state: "ready", count: 2 });
    expect(health.runs).toHaveLength(1);
  });

  test("counts no reads of tables that were excluded: they wait until these are mirrored again", async () => {
    const run = runContextOf(await openShop());
    await page(run, "people", [person(1), person(2)], { perPage: 5 });
    const { db } = run.mirror;
    const waitFor = (...names: readonly string[]) => {
      const { queue, lanes } = readHealth(db, declarationOf(), names.map(resourceOf));
      const facts = readFacts(db, scopeOf(...names), startMs);
      return [queue.length, lanes.length, facts.queue.length];
    };
    expect(waitFor("people", "notes")).toEqual([1, 1, 1]);
    expect(waitFor("people")).toEqual([0, 0, 0]);
  });

  test("judges what comes with other records by those of them that the config asks for", () => {
    const [events, clients, suppliers] = ["contact_activity_logs", "clients", "suppliers"].map((name) =>
      resourceNamed(fintoro, name),
    );
    const times = new Map([["clients", "2026-03-01"]]);
    const asked = [[events!, clients!], [events!, clients!, suppliers!], [events!], [clients!]];
    const judged = asked.map((one) => readWholeAt(events!, times, one));
    expect(judged).toEqual(["2026-03-01", null, null, null]);
  });

  test("shows the troubles of the last run that read the resource, not those of a quick one or of other tables", async () => {
    const mirror = await openShop();
    const trouble = { resource: "people", kind: "dead", message: "id:7 was given up" };
    const after = (resource: string, troubles: readonly object[], mode: RunMode = "incremental") => {
      endRun(mirror.db, startMs, { mode, report: { resources: { [resource]: {} }, troubles } });
      return readFacts(mirror.db, scopeOf("people"), startMs).wholeness.troubles;
    };
    expect(after("people", [trouble])).toEqual([trouble]);
    expect(after("colours", [])).toEqual([trouble]);
    expect(after("people", [])).toEqual([]);
    expect(after("people", [trouble])).toEqual([trouble]);
    expect(after("people", [], "quick")).toEqual([trouble]);
    expect(healthOf(mirror, "people")?.troubles).toEqual([trouble]);
    expect(healthOf(mirror, "colours")?.troubles).toEqual([]);
  });

  test("knows the last run that read everything behind a day of runs of one table every five minutes", async () => {
    const { db } = await openShop();
    const read = (resources: object) => endRun(db, startMs, { report: { resources, troubles: [] } });
    read({ people: {}, colours: {} });
    for (let i = 0; i < 288; i++) read({ people: {} });
    expect(readFacts(db, scopeOf("people", "colours"), startMs).wholeRunMs).toBe(startMs);
  });

  test("is read without a look at quick runs, however many there are", async () => {
    const { db } = await openShop();
    const prepared = vi.spyOn(db, "prepare");
    readFacts(db, scopeOf("people"), startMs);
    const asked = prepared.mock.calls.flatMap(([sql]) => (sql.includes("FROM _runs") ? [sql] : []));
    const plans = asked.map((sql) => db.prepare(`EXPLAIN QUERY PLAN ${sql.replaceAll("?", "1")}`).all());
    expect(plans.length).toBeGreaterThan(2);
    for (const plan of plans)
      expect(plan).toContainEqual(
        expect.objectContaining({ detail: expect.stringContaining("_runs_whole") as string }),
      );
  });

  test("says when the detail and the parent's list read longest ago were read; null where none was", async () => {
    const mirror = await openShop();
    const of = (name: string) => healthOf(mirror, name);
    expect(of("orders")).toMatchObject({ oldest_detail_at: null, oldest_parent_at: null });
    for (const id of [1, 2]) put(mirror, "people", person(id));
    const run = runContextOf(mirror);
    await childPage(run, 1, [], { at: stampOf(mirror, { receivedAtMs: startMs - 1_000 }) });
    await childPage(run, 2, []);
    const order = { id: 1, number: "1", total: 1, lines: [], receipts: [] };
    put(mirror, "orders", order, { source: "detail" });
    expect(of("notes")).toMatchObject({ oldest_detail_at: null, oldest_parent_at: at(-1_000) });
    expect(of("orders")).toMatchObject({ oldest_detail_at: at(0), oldest_parent_at: null });
    expect(of("people")).toMatchObject({ oldest_detail_at: null, oldest_parent_at: null });
  });

  test("a list in variants is as fresh as its stalest variant; what comes inside others as fresh as those", async () => {
    const mirror = await openShop();
    const runs = new Runs(mirror.db);
    const run = runs.begin("incremental", new Date(startMs).toISOString(), null, {});
    const sweptAt = (name: string) => healthOf(mirror, name)?.sweptAt;
    runs.noteSwept(run, "counters:order", "2026-03-01T00:00:01.000Z");
    expect(sweptAt("counters")).toBeNull();
    runs.noteSwept(run, "counters:credit-note", "2026-03-01T00:00:05.000Z");
    expect(sweptAt("counters")).toBe("2026-03-01T00:00:01.000Z");
    expect([sweptAt("receipts"), sweptAt("notes")]).toEqual([null, null]);
    runs.noteSwept(run, "orders", "2026-03-01T00:00:07.000Z");
    runs.noteSwept(run, "people", "2026-03-01T00:00:09.000Z");
    expect([sweptAt("receipts"), sweptAt("notes")]).toEqual([at(7_000), at(9_000)]);
    const { sweptMs } = readFacts(mirror.db, scopeOf("people", "notes", "colours"), startMs);
    expect(sweptMs).toEqual({ people: startMs + 9_000, notes: startMs + 9_000, colours: null });
  });

  // Fault: process | nobody received deliveries for longer than the service tries | spans of the receiver in the mirror | events may be lost: a gap, until a run has read everything
  test.each([
    ["after a pause longer than the service's attempts", "0-8 19-20", 1, true],
    ["but not where everything was read since", "0-8 19-20", 19.5, false],
    ["but not after a restart shorter than them", "0-10 10.1-20", 5, false],
    ["as long as nothing was ever read whole", "0-10 10.1-20", null, true],
    ["but not where no receiver ever ran", "", null, false],
  ] as const)("knows that events may be lost %s", async (_, spans, wholeAt, isLost) => {
    const { db } = await openShop();
    if (wholeAt !== null) endRun(db, startMs + wholeAt * hourMs);
    receiverRan(db, spans);
    const isLostIn = (scope: ReturnType<typeof scopeOf>) =>
      readFacts(db, scope, startMs + 20 * hourMs).wholeness.mayHaveLostEvents;
    expect(isLostIn(receivingScope())).toBe(isLost);
    // A company without a webhook secret has no events to lose.
    expect(isLostIn(scopeOf())).toBe(false);
  });

  test("counts no time since the last heartbeat as a pause, also where the service's attempts are not known", async () => {
    const { db } = await openShop();
    endRun(db, startMs + hourMs);
    receiverRan(db, "0-20");
    const declaration = { ...declarationOf(), webhooks: { ...fintoro.webhooks!, retryDelays: [] } };
    const isLostAt = (nowMs: number) =>
      readFacts(db, { ...receivingScope(), declaration }, nowMs).wholeness.mayHaveLostEvents;
    const beatMs = startMs + 20 * hourMs;
    expect([0, 14_000, 60_000, 61_000].map((ms) => isLostAt(beatMs + ms))).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });

  test("knows the last run that ended, also while another is under way", async () => {
    const { db } = await openShop();
    expect(readFacts(db, scopeOf(), startMs).lastRun).toBeNull();
    endRun(db, startMs, { endedMs: startMs + 5, outcome: "partial" });
    new Runs(db).begin("incremental", at(7), null, {});
    const ended = { outcome: "partial", startedMs: startMs, finishedMs: startMs + 5, message: null };
    expect(readFacts(db, scopeOf(), startMs).lastRun).toEqual(ended);
  });
});

const at = (ms: number) => new Date(startMs + ms).toISOString();

type Event = { type?: string; target?: string };

function arrived(mirror: Mirror, id: string, ms: number, state: string, event: Event = {}) {
  const { type = "people.updated", target = null } = event;
  const sql = `INSERT INTO _inbox (event_id, type, received_at, body, state, resource, target, dirty_seq)
    VALUES (?, ?, ?, '{}', ?, 'people', ?, 1)`;
  mirror.db.prepare(sql).run(id, type, at(ms), state, target);
}

test("the facts of events are read beside the process that writes", async () => {
  const path = join(tempFolder(), "shop.db");
  const mirror = await openShop({ path });
  arrived(mirror, "a", 1, "done");
  arrived(mirror, "b", 3, "waiting", { target: "id:7" });
  arrived(mirror, "c", 2, "waiting", { target: "id:8" });
  arrived(mirror, "d", 4, "unknown", { type: "people.cloned" });
  arrived(mirror, "e", 5, "unknown", { type: "people.cloned" });
  arrived(mirror, "f", 6, "unknown", { type: "dogs.created" });
  arrived(mirror, "g", 7, "unreadable");
  const queue = new WorkQueue(mirror.db);
  const read = { kind: "detail", resource: "people", lane: "webhook", dirtySeq: 1 } as const;
  for (const target of ["id:7", "id:8"]) queue.add({ ...read, target, reason: "people.updated" });
  mirror.db.exec(`UPDATE _work SET state = 'dead', error = 'odd' WHERE target = 'id:8';
    INSERT INTO _receiver (started_ms, seen_ms, ended) VALUES (10, 20, 'drained'), (30, 40, NULL)`);
  const service = { state: "unauthenticated", message: "Unauthenticated.", since: at(0) };
  new Meta(mirror.db).set("service", service);
  const receiver = { ...emptyReceiverNote, refused: { bad_signature: 4 }, dropped_connections: 3 };
  new Meta(mirror.db).set(receiverNoteKey, receiver);
  const orders = [{ kind: "sync", askedAt: at(0), pid: 12, state: "waiting" }];
  new Meta(mirror.db).set(ordersKey, orders);
  using reader = openDatabase(path, { readonly: true });
  expect(readEventFacts(reader)).toEqual({
    counts: { done: 1, waiting: 2, unknown: 3, unreadable: 1 },
    waitingSince: at(2),
    stuck: 1,
    lastReceivedAt: at(7),
    unknownTypes: [
      { type: "people.cloned", count: 2 },
      { type: "dogs.created", count: 1 },
    ],
    spans: [
      { startedMs: 10, seenMs: 20, ended: "drained" },
      { startedMs: 30, seenMs: 40, ended: null },
    ],
    service,
    ...receiver,
    orders,
  });
});

test.each<[string, string, number | null, number, boolean]>([
  ["in which a receiver ran without a gap that hides all attempts of an event", "0-100 101-240", 2, 1, true],
  ["but not one that began before it ran", "0-100 101-240", 2, -24, false],
  ["but not one in which it was away for long", "0-100 130-240", 2, 1, false],
  ["since it came back", "0-100 130-240", 2, 131, true],
  ["but not where no event came for a week", "0-240", 169, 1, false],
  ["but not where no event ever came", "0-240", null, 1, false],
  ["but not where no receiver ever ran", "", 2, 1, false],
])("webhooks cover a time %s", async (_, spans, eventHoursAgo, sinceHours, isCovered) => {
  const mirror = await openShop();
  if (eventHoursAgo !== null) arrived(mirror, "last", 10 * dayMs - eventHoursAgo * hourMs, "done");
  receiverRan(mirror.db, spans);
  expect(webhooksCover(mirror.db, startMs + sinceHours * hourMs, startMs + 10 * dayMs)).toBe(isCovered);
});
