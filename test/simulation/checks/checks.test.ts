import Database from "better-sqlite3";
import { beforeAll, describe, expect, test } from "vitest";
import type { Db } from "../../support/truth/compare.ts";
import { limiterKinds, type LimiterKind } from "../../support/rate-limit/simulated-budget.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { tableNames, type Exchange, type TableName } from "../service/service-types.ts";
import { SimulatedService } from "../service/simulated-service.ts";
import { brokenAfterUsualRun, brokenAtRest, brokenNow } from "./all-checks.ts";
import { impatient, overspent, type ClockLosses } from "./budget.ts";
import { MirrorContents } from "./mirror-contents.ts";
import type { AskedRecord, Observation, SeenRead } from "./observation.ts";
import { overlappedUnread } from "./overlap.ts";
import { staleAfterRun } from "./progress.ts";
import { changedContent, contentOf, foreignRecords } from "./replay.ts";
import { leaks, strayRequests } from "./secrecy.ts";
import { syncedMirror, tamperedWith, type SyncedMirror } from "./synced-mirror.ts";

let synced: SyncedMirror;

beforeAll(async () => {
  synced = await syncedMirror(4, 80);
});

/** The mirror with the change of a careless or broken program. */
function tampered(change: string | ((db: Db) => void)): MirrorContents {
  return tamperedWith(synced, change);
}

/** What the checks say of it, each kind once: `I2 invoices: not what the change log gives`. */
function found(mirror: MirrorContents, seen: Observation = synced.seen): string[] {
  const lines = brokenAtRest(mirror, seen).map((line) => line.replace(/ [\d[\]]+:/, ":"));
  return [...new Set(lines)];
}

/** A version of an invoice that is over, and that the record's events came after. */
function oldInvoice(): { id: number; text: string } {
  const { log } = synced.service.company;
  const done = new Set(
    synced.service.events.map(({ event }) => `${event.resource.type} ${event.resource.id}`),
  );
  const ids = [...log.ids("invoices")].filter((id) => done.has(`invoice ${id}`));
  const past = ids.flatMap((id) => {
    const [first, ...later] = log.history("invoices", id);
    return first?.shown && later.length > 1 && later.at(-1)?.shown ? [{ id, text: first.shown.detail }] : [];
  });
  const [old] = past;
  if (!old) throw new Error("the seed has no invoice that was changed");
  return old;
}

/** Puts an older version in place of a record, in all tables that show it. */
function putBack(db: Db): void {
  const { id, text } = oldInvoice();
  db.prepare("UPDATE _raw_invoices SET json = ? WHERE id = ?").run(text, id);
}

function someLive(table: TableName): string {
  return `(SELECT min(id) FROM "${table}" WHERE _deleted_at IS NULL)`;
}

/** The machine was started anew in the window, and its clock set at these times. */
function rebooted(settings: readonly number[]): ClockLosses {
  return { reboots: [6_000], settings };
}

describe("the checks of a simulation", () => {
  test("find nothing in a mirror that followed its service", async () => {
    expect(found(tampered(""))).toEqual([]);
    const another = await syncedMirror(5, 40);
    expect(brokenAtRest(new MirrorContents(new Database(another.image)), another.seen)).toEqual([]);
  });

  test.each<[invariant: string, what: string, change: string]>([
    ["I1", "a row without its JSON", `DELETE FROM _raw_clients WHERE id = ${someLive("clients")}`],
    ["I1", "a row without its last read", `DELETE FROM _fence_clients WHERE id = ${someLive("clients")}`],
    [
      "I1",
      "row and last read differ",
      `UPDATE _fence_clients SET gone = 1 WHERE id = ${someLive("clients")}`,
    ],
    ["I1", "provisional or not", `UPDATE invoices SET _detail_at = NULL WHERE id = ${someLive("invoices")}`],
    [
      "I1",
      "nothing is queued to read its detail",
      `UPDATE invoices SET _detail_at = NULL; UPDATE _fence_invoices SET source = 'preview'`,
    ],
    ["I1", "waits, and nothing is queued", "UPDATE _inbox SET state = 'waiting' WHERE state = 'done'"],
    ["I1", "its client was deleted", "UPDATE _fence_clients SET gone = 1, received_seq = 1000000000"],
    ["I2", "over something else", "DELETE FROM _change_log WHERE op = 'update'"],
    [
      "I2",
      "that changes nothing",
      "UPDATE _change_log SET before = (SELECT after FROM _changes c WHERE c.seq = _change_log.seq) WHERE op = 'update'",
    ],
    ["I2", "where it cannot be", "UPDATE _change_log SET op = 'insert' WHERE op = 'update'"],
    [
      "I2",
      "which did not show this",
      `UPDATE _reads SET request_id = (SELECT min(request_id) FROM _reads) WHERE cause = 'webhook'`,
    ],
    ["I2", "not what the change log gives", `DELETE FROM _change_log WHERE resource = 'units'`],
    ["I2", "in the change log only", "DELETE FROM units"],
    ["I2", "deleted, and the change log does not say so", `UPDATE units SET _deleted_at = 'x' WHERE id = 1`],
    ["I2", "city is", `UPDATE clients SET city = 'Elsewhere' WHERE id = ${someLive("clients")}`],
    ["I2", "belongs to no record", "UPDATE invoice_items SET invoice_id = invoice_id + 900"],
    ["I2", "missing", "DELETE FROM price_list_item_stocks"],
    ["I3", "which nobody answered", "UPDATE _reads SET request_id = 'made up'"],
    ["I4", "waits at rest", "UPDATE _inbox SET state = 'waiting' WHERE state = 'done'"],
    [
      "I4",
      "left in the queue",
      `INSERT INTO _work (resource, target, kind, lane, due_ms, reason, dirty_seq) VALUES ('units', 'page:1', 'list', 1, 0, 'sweep', 1)`,
    ],
    [
      "I5",
      "which is not its own route",
      "UPDATE _reads SET request_id = (SELECT min(request_id) FROM _reads)",
    ],
    ["I4", "done by an answer that was not used", "UPDATE _inbox SET outcome = 'stale' WHERE state = 'done'"],
    ["I5", "never gone at the service", "UPDATE company SET _deleted_at = 'x'"],
    ["I6", "answered 2xx, and not kept", "DELETE FROM _inbox WHERE seq = (SELECT max(seq) FROM _inbox)"],
    ["I7", "stored twice", "UPDATE _inbox SET event_id = (SELECT max(event_id) FROM _inbox)"],
    ["I11", "missing", "DELETE FROM units"],
    ["I11", "deleted here, live at the service", `UPDATE units SET _deleted_at = 'x' WHERE id = 1`],
    [
      "I11",
      "live here, not at the service",
      "UPDATE invoices SET _deleted_at = NULL; UPDATE clients SET _deleted_at = NULL; UPDATE document_payments SET _deleted_at = NULL",
    ],
    ["I11", "city is", `UPDATE clients SET city = 'Elsewhere' WHERE id = ${someLive("clients")}`],
    ["I11", "belongs to no record", "UPDATE invoice_items SET invoice_id = invoice_id + 900"],
    ["I12", "not kept as it was sent", `UPDATE _inbox SET body = body || ' '`],
    ["I12", "its state is", "UPDATE _inbox SET state = 'unknown'"],
    ["I12", "the service never showed", `UPDATE _raw_units SET json = json || ' '`],
  ])("%s: name what is wrong: %s", (invariant, what, change) => {
    const lines = found(tampered(change));
    expect(lines.filter((line) => line.startsWith(`${invariant} `) && line.includes(what))).not.toEqual([]);
  });

  test("I3: name a change by a read that overlapped with another one of its record", () => {
    const mirror = tampered("");
    const change = mirror.changes.find(({ resource, op }) => resource === "clients" && op === "update");
    const { record_id: id, request_id: requestId } = change ?? {};
    if (id === undefined || !requestId) throw new Error("the seed changes no client");
    const at = (other: string, sentAtMs: number, receivedAtMs: number) => {
      const shown = new Set([`clients ${id}`]);
      return { requestId: other, process: synced, sentAtMs, receivedAtMs, isMissing: false, shown };
    };
    const foundWith = (...reads: readonly SeenRead[]) => found(mirror, { ...synced.seen, reads });
    expect(foundWith(at(requestId, 10, 50), at("another", 20, 30))).toEqual([
      "I3 clients: changed by " + requestId + ", which was sent before another came",
    ]);
    expect(foundWith(at(requestId, 10, 50), at("another", 0, 9))).toEqual([]);
    expect(foundWith(at(requestId, 10, 50), at("another", 20, 60))).toEqual([]);
  });

  test("I3: name a change by a read that overlapped with one that found its record gone", () => {
    const mirror = tampered("");
    const change = mirror.changes.find(({ resource, op }) => resource === "clients" && op === "update");
    const gone = mirror.events.find(({ outcome }) => outcome === "deleted");
    const { record_id: id, request_id: requestId } = change ?? {};
    if (id === undefined || !requestId || !gone?.request_id) throw new Error("the seed deletes no record");
    const shown = new Set([`clients ${id}`]);
    const one = { requestId, process: synced, sentAtMs: 10, receivedAtMs: 50, isMissing: false, shown };
    const other = { ...one, requestId: gone.request_id, sentAtMs: 20, receivedAtMs: 30, isMissing: true };
    const absent = tampered("UPDATE _inbox SET outcome = 'absent' WHERE outcome = 'deleted'");
    const seen = { ...synced.seen, reads: [one, other] };
    expect(found(absent, seen)).toEqual([expect.stringMatching(/^I3 clients/)]);
    expect(found(mirror, seen)).toEqual([]);
  });

  test("I4: name an event that is done although its record is as it was before", () => {
    const lines = found(tampered(putBack));
    expect(lines.join("\n")).toMatch(/I4 invoices: .* is done, and the row is as it was before the event/);
    expect(lines).toContain("I11 invoices: another version");
  });

  test("I3: name a read that was applied after one that was sent later", () => {
    const turned = tampered((db) => {
      const reads = db.prepare("SELECT id, request_id FROM _reads").all() as {
        id: number;
        request_id: string;
      }[];
      const requests = reads.map(({ request_id: requestId }) => requestId).toReversed();
      for (const [i, { id }] of reads.entries())
        db.prepare("UPDATE _reads SET request_id = ? WHERE id = ?").run(requests[i], id);
    });
    expect(found(turned).join("\n")).toMatch(/I3 .* was sent before .*, and applied after it/);
  });

  test("I3: name a preview that replaced a detail", () => {
    const { id } = oldInvoice();
    const listed = synced.service.company.log.history("invoices", id).at(-1)?.shown?.listed;
    const worse = tampered((db) => {
      db.prepare("UPDATE _raw_invoices SET json = ? WHERE id = ?").run(listed, id);
    });
    expect(found(worse)).toContain("I3 invoices: a preview replaced its detail");
  });

  test("I1: name a record that a run left as it was, or did not find", () => {
    const { seen, clock } = synced;
    const sinceMs = clock.monotonicMs();
    const judged = (change: Parameters<typeof tampered>[0], tables = tableNames) =>
      staleAfterRun(tampered(change), seen, { sinceMs, tables, isBesideWorker: false }).join();
    expect(judged("")).toBe("");
    expect(judged(putBack)).toContain("as it was before the run");
    expect(judged("DELETE FROM units")).toContain("not here");
  });

  test("say nothing of what is only not read yet", () => {
    const waiting =
      tampered(`UPDATE _inbox SET state = 'waiting' WHERE event_id = (SELECT event_id FROM _inbox WHERE state = 'done' LIMIT 1);
      INSERT INTO _work (resource, target, kind, lane, due_ms, reason, dirty_seq)
      SELECT resource, target, 'detail', 0, 0, type, dirty_seq FROM _inbox WHERE state = 'waiting'`);
    expect(brokenNow(waiting, synced.seen)).toEqual([]);
  });

  test("I7: name each row that a replay changed", () => {
    const before = contentOf(tampered(""));
    expect(changedContent(before, contentOf(tampered("UPDATE _fence_units SET read_at = 7")))).toEqual([]);
    const after = contentOf(tampered("UPDATE units SET name = 'other' WHERE id = 1"));
    expect(changedContent(before, after).map((line) => line.replace(/: .* is/, " is"))).toEqual([
      "units is gone",
      "units is new",
    ]);
  });

  test("I8: name requests above the budget, and those sent before the time that a 429 asked for", () => {
    const clock = { nowMs: () => 5_000, monotonicMs: () => 5_000 };
    const limiter = limiterKinds[0] as LimiterKind;
    const ask = (othersPerSecond: number, count: number, losses?: ClockLosses) => {
      const service = new SimulatedService({
        random: seededRandom(1),
        clock,
        limiter,
        limit: 2,
        othersPerSecond,
      });
      for (let left = count; left > 0; left--) service.answer("/units", new URLSearchParams());
      return overspent(service, losses);
    };
    expect([ask(0, 2), ask(1, 3)]).toEqual([[], []]);
    expect(ask(0, 3)).toEqual(["I8 1 refused in the window from 5000, alone"]);
    expect(ask(0, 3, rebooted([]))).toHaveLength(1);
    expect(ask(0, 3, rebooted([4_999, 65_000]))).toHaveLength(1);
    expect(ask(0, 3, rebooted([64_999]))).toEqual([]);
    const refused = { refusedAtMs: 900, windowEndsAtMs: 4_000, receivedAtMs: 1_000, retryAfterS: 3 };
    expect(
      impatient([
        { ...refused, nextSentAtMs: 4_000 },
        { ...refused, nextSentAtMs: null },
      ]),
    ).toEqual([]);
    expect(impatient([{ ...refused, nextSentAtMs: 3_999 }])).toHaveLength(1);
    expect(impatient([{ ...refused, windowEndsAtMs: 4_500, nextSentAtMs: 4_499 }])).toHaveLength(1);
    expect(impatient([{ ...refused, receivedAtMs: 3_899, nextSentAtMs: 4_000 }])).toHaveLength(1);
    expect(impatient([{ ...refused, receivedAtMs: 3_900, nextSentAtMs: 4_000 }])).toEqual([]);
  });

  test("I9: name the place where a secret stands, and the origin that it was sent to", () => {
    const places = new Map<string, string | Buffer>([
      ["the log", "token a-secret"],
      ["the mirror", Buffer.from("nothing")],
    ]);
    expect(leaks(["a-secret"], places)).toEqual(["I9 a secret stands in the log"]);
    const own = { origin: "https://own.example", authorization: "Bearer a" };
    const stray = { origin: "https://other.example", authorization: "Bearer a" };
    expect(strayRequests(own.origin, [own, { ...stray, authorization: null }])).toEqual([]);
    expect(strayRequests(own.origin, [own, stray])).toEqual([
      "I9 the token was sent to https://other.example",
    ]);
  });

  test("I10: name a record of another company", () => {
    const { service, clock } = synced;
    const foreign = new SimulatedService({
      ...service.options,
      clock,
      random: seededRandom(9),
      key: "b",
      name: "Other",
    });
    expect(foreignRecords(tampered(""), service, foreign)).toEqual([]);
    const mixed = tampered(`UPDATE _raw_company SET json = '{"name":"Other"}'`);
    expect(foreignRecords(mixed, service, foreign)).toEqual(["I10 company 1: of another company"]);
  });
});

/** An event waits for a read that is in this state. */
function waitingFor(state: string, dueMs: number): MirrorContents {
  return tampered(
    `UPDATE _inbox SET state = 'waiting', request_id = NULL WHERE event_id = (SELECT max(event_id) FROM _inbox WHERE state = 'done');
      INSERT INTO _work (resource, target, kind, lane, due_ms, state, reason, dirty_seq)
      SELECT resource, target, 'detail', 0, ${dueMs}, '${state}', 'recheck', dirty_seq FROM _inbox WHERE state = 'waiting'`,
  );
}

describe("the checks of reads for events", () => {
  test("I4: name an event that waits for a read that was given up before it came", () => {
    const { seen } = synced;
    const event = waitingFor("ready", 0).events.find(({ state }) => state === "waiting");
    if (!event) throw new Error("the seed has no event");
    const key = `${event.resource} ${event.target.slice("id:".length)}`;
    const arrivedMs = seen.arrivals.get(event.event_id) ?? Number.NaN;
    const readAt = (sentAtMs: number) => ({
      ...seen,
      asked: new Map([[key, [{ sentAtMs, requestId: null }]]]),
    });
    const [early, late] = [readAt(arrivedMs - 1), readAt(arrivedMs + 1)];
    expect(brokenNow(waitingFor("dead", 0), early)).toEqual([
      expect.stringContaining("is set aside, and was not read since"),
    ]);
    expect(brokenNow(waitingFor("ready", 1), early)).toEqual([
      expect.stringContaining("is not due, and was not read since"),
    ]);
    expect(brokenNow(waitingFor("ready", 0), early)).toEqual([]);
    expect(brokenNow(waitingFor("dead", 0), late)).toEqual([]);
  });

  test("I4: name an event whose record was read once only, and soon after it", () => {
    const mirror = tampered("");
    const event = mirror.events.findLast(({ state }) => state === "done");
    if (!event) throw new Error("the seed has no event");
    const { seen } = synced;
    const arrivedMs = seen.arrivals.get(event.event_id) ?? Number.NaN;
    const key = `${event.resource} ${event.target.slice("id:".length)}`;
    const first = { sentAtMs: arrivedMs + 500, requestId: event.request_id };
    const foundWith = (...reads: readonly AskedRecord[]) =>
      brokenNow(mirror, { ...seen, asked: new Map([[key, reads]]) });
    expect(foundWith(first).join()).toContain("was read 500 ms after it, and is not read again");
    expect(foundWith(first, { sentAtMs: arrivedMs + 60_000, requestId: null })).toEqual([]);
    expect(foundWith({ ...first, sentAtMs: arrivedMs + 60_000 })).toEqual([]);
  });
});

describe("the checks of what follows from a read", () => {
  test("I3: name a record that a list showed otherwise meanwhile, and that nothing reads again", () => {
    const { log } = synced.service.company;
    const id = [...log.ids("clients")].find((one) => {
      const history = log.history("clients", one);
      return history.length > 1 && history.at(-1)?.shown && history[0]?.shown;
    });
    const shown = new Set([`clients ${id}`]);
    const at = (requestId: string, sentAtMs: number, receivedAtMs: number): SeenRead => {
      return { requestId, process: synced, sentAtMs, receivedAtMs, isMissing: false, shown };
    };
    const [usual] = synced.service.exchanges;
    if (!usual) throw new Error("the seed has no request");
    const list = { ...usual, requestId: "list", route: "/clients", status: 200, hitAtMs: 15, asOfMs: -1 };
    const later = { ...list, requestId: "later", route: `/clients/${id}`, hitAtMs: 70 };
    const reads = [at("own", 20, 30), at("list", 10, 50), at("last", 60, 80)];
    const { company, options } = synced.service;
    const foundAmong = (...exchanges: Exchange[]) =>
      overlappedUnread(tampered(""), { ...synced.seen, service: { company, options, exchanges }, reads });
    expect(foundAmong(list)).toEqual([
      `I3 clients ${id}: list overlapped with another read, and nothing is queued`,
    ]);
    expect(foundAmong(list, later)).toEqual([]);
  });

  test("I11: name what a usual run left unlike its list, and a CRM event unlike its invoice", () => {
    const after = (change: string) => brokenAfterUsualRun(tampered(change), synced.seen).join("\n");
    const { service } = synced;
    const shown = [...service.company.state.contact_activity_logs.values()].find(
      ({ invoiceId, parent }) => invoiceId !== null && service.company.state[parent.table].has(parent.id),
    );
    expect(after("")).toBe("");
    expect(after("UPDATE invoices SET note = 'another', to_be_paid = to_be_paid + 1")).toMatch(
      /^I11 after a usual run, invoices \d+: to_be_paid is/,
    );
    expect(after("UPDATE invoices SET note = 'another'")).toBe("");
    expect(after("DELETE FROM units WHERE id = 1")).toContain("units 1: missing");
    expect(after("UPDATE clients SET city = 'Elsewhere'")).toContain("city is");
    const old = `UPDATE _raw_contact_activity_logs SET json = replace(json, '"issueDate":"2026', '"issueDate":"1999') WHERE id = ${shown?.id}`;
    const change = `DELETE FROM _change_log WHERE resource = 'contact_activity_logs'; UPDATE _reads SET cause = 'sweep'`;
    expect(after(`${old}; ${change}`)).toContain("as it was before its last change");
  });
});
