import { describe, expect } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import { openDatabase } from "../../src/store/database.ts";
import { applyTogether, type RunContext } from "../../src/sync/context/run-context.ts";
import { openShop } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { rows, stampOf, texts } from "../support/mirror/store.ts";
import { runContextOf } from "../support/mirror/run.ts";

/** What an answer about one person does: it stores, counts and logs, and then may fail. */
function personStep(run: RunContext, id: number, field: string, logged: string[], error?: Error) {
  return () => {
    const slice = Buffer.from(JSON.stringify({ id, name: "n", email: null, score: null, [field]: id }));
    const result = run.mirror.table("people").put({ stamp: stampOf(run.mirror), id, slice, source: "list" });
    run.tally.count("people", result);
    run.afterCommit.push(() => logged.push(field));
    if (error) throw error;
  };
}

/** Three answers, of which the second fails. */
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
    expect(rows(run.mirror, "SELECT id, first, third FROM people")).toEqual([
      { id: 1, first: 1, third: null },
      { id: 3, first: null, third: 3 },
    ]);
    expect(texts(run.mirror, "SELECT column_name FROM _schema_changes")).toEqual(["first", "third"]);
    expect(run.tally.of("people").inserted).toBe(2);
    expect(logged).toEqual(["first", "third"]);
    expect(run.mirror.notices.current.newColumns).toEqual(["people.first", "people.third"]);
    await applyTogether(run, personStep(run, 2, "second", logged));
    expect(rows(run.mirror, "SELECT id, second FROM people WHERE id = 2")).toEqual([{ id: 2, second: 2 }]);
  });

  // Fault: disk | the database fails while several answers are applied | a transaction of several answers | none of them is stored or counted
  test("fail together when the database does: none of them is stored or counted", async () => {
    const logged: string[] = [];
    const run = runContextOf(await openShop());
    const full = new MirrorError("database", "the disk is full");
    const ends = await Promise.allSettled(three(run, logged, full));
    for (const end of ends) expect(end).toMatchObject({ reason: full });
    expect(rows(run.mirror, "SELECT id FROM people")).toEqual([]);
    expect(rows(run.mirror, "SELECT * FROM _schema_changes")).toEqual([]);
    expect([run.tally.of("people").inserted, logged]).toEqual([0, []]);
    await applyTogether(run, personStep(run, 1, "first", logged));
    expect(rows(run.mirror, "SELECT id, first FROM people")).toEqual([{ id: 1, first: 1 }]);
  });
});
