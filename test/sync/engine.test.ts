import { setImmediate } from "node:timers/promises";
import { describe, expect } from "vitest";
import { silentLog } from "../../src/base/logger.ts";
import type { ServiceRequest, Transport } from "../../src/connector/transport.ts";
import { handleFailure } from "../../src/sync/apply/handle-failure.ts";
import { applyTogether, type RunContext } from "../../src/sync/context/run-context.ts";
import { Tally } from "../../src/sync/context/tally.ts";
import { Engine, type EngineOptions } from "../../src/sync/engine/engine.ts";
import { batchRetryPolicy } from "../../src/retry/retry-policies.ts";
import type { NewWorkItem } from "../../src/state/work-item.ts";
import { openHasty, openShop } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { person } from "../support/mirror/shop-records.ts";
import { work } from "../support/mirror/state-rows.ts";
import { allChanges, put, rows, startMs, texts } from "../support/mirror/store.ts";
import { answerTo, leaseNext, runContextOf, stillClock, waiting } from "../support/mirror/run.ts";
import { answerOf } from "../support/mirror/whole-run.ts";
import { MirrorError } from "../../src/base/errors.ts";
import { openDatabase } from "../../src/store/database.ts";

const nothing = (_asked: number): unknown => undefined;

/** A service whose person 1 is always the same; `beforeSent` runs while the request waits for its permit. */
function service(beforeSent = nothing, afterSent = nothing) {
  const asked: string[] = [];
  const transport: Transport = {
    send: async ({ path, onSent }: ServiceRequest) => {
      asked.push(path);
      beforeSent(asked.length);
      onSent?.();
      afterSent(asked.length);
      return answerOf(person(1));
    },
  };
  return { asked, transport };
}

function addNow(run: RunContext, more: Partial<NewWorkItem> = {}): void {
  run.queue.add(work({ dirtySeq: run.mirror.sequence.next(), ...more }));
}

function workOn(
  run: RunContext,
  transport: Transport,
  more: Partial<EngineOptions> = {},
): Promise<"done" | "drained"> {
  const signal = new AbortController().signal;
  const parts = { clock: stillClock, log: silentLog, tally: new Tally(), patienceMs: 60_000 };
  const policy = batchRetryPolicy({ ...parts, ended: signal }, () => Promise.resolve());
  return new Engine(run, { transport, concurrency: 1, policy, signal, closed: signal, ...more }).work();
}

const event = { lane: "webhook", reason: "people.updated" } as const;

describe("a work item", () => {
  // Fault: disk | a write that fails while an answer is stored | a trigger | its work item stays, and the read is made again (I1)
  test("I1 stays queued when the transaction that stores its answer fails", async ({ mirror, run }) => {
    addNow(run);
    mirror.db.exec("CREATE TRIGGER broken BEFORE INSERT ON people BEGIN SELECT RAISE(ABORT, 'no room'); END");
    await expect(workOn(run, service().transport)).rejects.toThrow("no room");
    expect(waiting(run)).toEqual(["people id:1 detail new"]);
    mirror.db.exec("DROP TRIGGER broken");
    expect(await workOn(run, service().transport)).toBe("done");
    expect(rows(mirror, "SELECT id FROM people")).toEqual([{ id: 1 }]);
    expect(waiting(run)).toEqual([]);
  });

  test.each([
    ["retry", 2],
    ["postpone", 1],
  ] as const)("that failed twice: %s leaves it with %i attempts, due later", async (kind, attempts) => {
    const run = runContextOf(await openHasty());
    addNow(run);
    for (const atMs of [startMs, startMs + 7_000]) {
      const answer = answerTo(run, leaseNext(run.queue, ["people"], "all", atMs));
      run.mirror.apply(() => handleFailure(answer, new Error("503"), { kind, afterMs: 7_000 }));
      run.queue.release(answer.item);
    }
    const left = texts(run.mirror, "SELECT attempts, due_ms FROM _work");
    expect(left).toEqual([`${attempts} ${startMs + 7_000}`]);
  });

  test("I3, I4 an event before the permit of its request is answered by it", async ({ run }) => {
    const { asked, transport } = service((count) => count === 1 && addNow(run, event));
    addNow(run);
    await workOn(run, transport);
    expect(asked).toEqual(["/people/1"]);
  });

  test("I4 an event that comes after its request was sent causes another one", async ({ run }) => {
    const { asked, transport } = service(undefined, (count) => count === 1 && addNow(run, event));
    addNow(run);
    await workOn(run, transport);
    expect(asked).toEqual(["/people/1", "/people/1"]);
  });
});

/** A service whose list answers before the old detail of person 1 that was sent beside it; later details are new. */
function overtakingService(listed: Promise<void>, onList: () => Promise<void> | undefined) {
  const asked: string[] = [];
  const transport: Transport = {
    send: async ({ path, onSent }) => {
      asked.push(path);
      onSent?.();
      const isOld = path === "/people/1" && asked.filter((one) => one === path).length === 1;
      await (isOld ? listed : path === "/people" ? onList() : undefined);
      const record = person(1, isOld ? "old" : "new");
      const paginator = { currentPage: 1, perPage: 2, totalResults: 1, totalPages: 1 };
      return answerOf(path === "/people" ? { data: [record], paginator } : record);
    },
  };
  return { asked, transport };
}

test.each(["detail", "list"])(
  "I3 an answer that an unchanged list overtook is not used: %s first",
  async (first) => {
    const mirror = await openHasty();
    const run = runContextOf(mirror, {}, ["people"]);
    put(mirror, "people", person(1, "new"));
    const listed = Promise.withResolvers<void>();
    const { asked, transport } = overtakingService(listed.promise, async () => {
      if (first === "detail") return;
      addNow(run, event);
      for (let turn = 0; turn < 1_000 && !asked.includes("/people/1"); turn++) await setImmediate();
    });
    if (first === "detail") addNow(run, event);
    const payload = { variant: "", page: 1 };
    run.queue.add(work({ kind: "list", target: "page::1", lane: "list", reason: "sweep", payload }));
    await workOn(run, transport, { concurrency: 2, afterPage: () => listed.resolve() });
    expect(asked.toSorted()).toEqual(["/people", "/people/1", "/people/1"]);
    expect(rows(mirror, "SELECT name FROM people")).toEqual([{ name: "new" }]);
    expect(allChanges(mirror)).toHaveLength(1);
  },
);

/** What an answer about one person does: it stores, counts and logs, and then may fail. */
function personStep(run: RunContext, id: number, field: string, logged: string[], error?: Error) {
  return () => {
    run.tally.count("people", put(run.mirror, "people", person(id, { [field]: id })));
    run.afterCommit.push(() => logged.push(field));
    if (error) throw error;
  };
}

const three = (run: RunContext, logged: string[], error: Error) => [
  applyTogether(run, personStep(run, 1, "first", logged)),
  applyTogether(run, personStep(run, 2, "second", logged, error)),
  applyTogether(run, personStep(run, 3, "third", logged)),
];

describe("answers of one turn of the event loop", () => {
  test("I1: are committed together, and only then are their promises resolved", async ({ run }) => {
    const reader = openDatabase(run.mirror.db.name, { readonly: true });
    const seen = () => reader.prepare("SELECT count(*) FROM people").pluck().get();
    const steps = [1, 2, 3].map((id) => personStep(run, id, "pet", []));
    const before: unknown[] = [];
    const waits = steps.map((step) =>
      applyTogether(run, () => {
        before.push(run.mirror.db.inTransaction);
        step();
      }).then(seen),
    );
    expect(seen()).toBe(0);
    expect(await Promise.all(waits)).toEqual([3, 3, 3]);
    expect(before).toEqual([true, true, true]);
    reader.close();
  });

  // Fault: data | one of several answers fails while they are applied | a transaction of several answers | the others stay, and nothing of the failed one
  test("fail alone: the others stay, and what the failed one stored, counted, logged and grew is gone", async () => {
    const logged: string[] = [];
    const run = runContextOf(await openShop());
    const broken = new Error("no such record");
    const ends = await Promise.allSettled(three(run, logged, broken));
    expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(ends[1]).toMatchObject({ reason: broken });
    expect(texts(run.mirror, "SELECT id, first, third FROM people")).toEqual(["1 1 null", "3 null 3"]);
    expect(texts(run.mirror, "SELECT column_name FROM _schema_changes")).toEqual(["first", "third"]);
    expect(run.tally.of("people").inserted).toBe(2);
    expect(logged).toEqual(["first", "third"]);
    expect(run.mirror.notices.current.newColumns).toEqual(["people.first", "people.third"]);
    await applyTogether(run, personStep(run, 2, "second", logged));
    expect(texts(run.mirror, "SELECT second FROM people WHERE id = 2")).toEqual(["2"]);
  });

  // Fault: disk | the database fails while several answers are applied | a transaction of several answers | none of them is stored or counted
  test("fail together when the database does: none of them is stored or counted", async () => {
    const logged: string[] = [];
    const run = runContextOf(await openShop());
    const full = new MirrorError("database", "the disk is full");
    const ends = await Promise.allSettled(three(run, logged, full));
    for (const end of ends) expect(end).toMatchObject({ reason: full });
    const stored = ["people", "_schema_changes"].flatMap((table) =>
      texts(run.mirror, `SELECT * FROM ${table}`),
    );
    expect([stored, run.tally.of("people").inserted, logged]).toEqual([[], 0, []]);
    await applyTogether(run, personStep(run, 1, "first", logged));
    expect(texts(run.mirror, "SELECT id, first FROM people")).toEqual(["1 1"]);
  });
});
