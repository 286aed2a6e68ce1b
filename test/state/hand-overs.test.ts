import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Manifest } from "../../src/connector/connector-manifest.ts";
import type { Resource } from "../../src/connector/resource.ts";
import { HandOverCounts, recordHandOver } from "../../src/state/as-of/hand-overs.ts";
import { readLog } from "../../src/state/log-identity.ts";
import { manifestOf, openHasty, resources } from "../support/mirror/mirror.ts";
import { order } from "../support/mirror/shop-records.ts";
import { put, remove } from "../support/mirror/store.ts";

/** The shop's orders as documents of months. */
const orders = { ...resources["orders"], files: { date: "issued_on" } } as Resource;
const shop = manifestOf([orders]);
const manifest = { ...shop, monthPackage: { documents: ["orders"] } } as unknown as Manifest;

const id = fc.integer({ min: 1, max: 3 });
const month = fc.constantFrom("2026-09", "2026-10");
const step = fc.oneof(
  fc.record({ kind: fc.constant("order" as const), id, month, total: fc.integer({ min: 0, max: 2 }) }),
  fc.record({ kind: fc.constant("gone" as const), id }),
  fc.record({ kind: fc.constant("handed over" as const), month }),
);

test("a count of what changed since a hand-over that goes on from the last one is as one that begins anew", async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
    const mirror = await openHasty({ manifest });
    const counts = new HandOverCounts();
    /** Which orders changed since their month was handed over, by the steps alone. */
    const changed = new Map<string, Set<number>>();
    const issued = new Map<number, { month: string; total: number }>();
    for (const one of steps) {
      const seq = Number(mirror.db.prepare("SELECT coalesce(max(seq), 0) FROM _change_log").pluck().get());
      if (one.kind === "handed over") {
        const { month: of } = one;
        const at = "2026-11-05T00:00:00.000Z";
        recordHandOver(mirror.db, { month: of, seq, log: readLog(mirror.db).id, at, command: "", files: {} });
        changed.set(of, new Set());
      } else {
        const before = issued.get(one.id);
        const after = one.kind === "order" ? { month: one.month, total: one.total } : undefined;
        if (JSON.stringify(before) === JSON.stringify(after)) continue;
        if (one.kind === "gone") remove(mirror, "orders", one.id);
        else {
          const record = order(one.id, { total: one.total, issuedOn: `${one.month}-03` });
          put(mirror, "orders", record, { source: "detail" });
        }
        if (after) issued.set(one.id, after);
        else issued.delete(one.id);
        for (const each of [before, after]) changed.get(each?.month ?? "")?.add(one.id);
      }
      const states = counts.read(mirror.db, manifest);
      expect(states).toEqual(new HandOverCounts().read(mirror.db, manifest));
      expect(new Map(states.map((state) => [state.month, state.changed]))).toEqual(
        new Map([...changed].map(([of, ids]) => [of, ids.size])),
      );
    }
    mirror.close();
  });
  await fc.assert(property, { numRuns: 15 });
});
