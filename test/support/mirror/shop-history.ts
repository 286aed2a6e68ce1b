import * as fc from "fast-check";
import type { Mirror } from "../../../src/state/mirror.ts";
import type { ReadStamp } from "../../../src/store/apply/read-stamp.ts";
import { note, order } from "./shop-records.ts";
import { put, putPreview, remove, stampOf, startMs } from "./store.ts";

const id = fc.integer({ min: 1, max: 4 });

const gone = fc.record({
  kind: fc.constant("gone" as const),
  id,
  table: fc.constantFrom("orders", "colours", "people", "receipts", "notes"),
});

/** What the service says next: all kinds of reads, of records that come, change, go and come back. */
export const anyChange = fc.oneof(
  fc.record({
    kind: fc.constant("order" as const),
    id,
    lines: fc.integer({ min: 0, max: 3 }),
    colour: fc.option(id),
  }),
  fc.record({ kind: fc.constant("preview" as const), id }),
  fc.record({ kind: fc.constant("colour" as const), id, shade: fc.option(fc.integer()) }),
  fc.record({ kind: fc.constant("person" as const), id }),
  fc.record({ kind: fc.constant("receipt" as const), id }),
  fc.record({ kind: fc.constant("note" as const), id, person: fc.option(id) }),
  // Most records that go are not there.
  { weight: 4, arbitrary: gone },
);
type ShopChange = typeof anyChange extends fc.Arbitrary<infer T> ? T : never;

export function applyChange(mirror: Mirror, one: ShopChange, step: number): void {
  const stamp = (cause: "sweep" | "hydrate" | "confirm") =>
    stampOf(mirror, { cause, receivedAtMs: startMs + step * 1000 });
  if (one.kind === "gone") remove(mirror, one.table, one.id, stamp("confirm"));
  else if (one.kind === "preview")
    putPreview(mirror, "orders", { id: one.id, number: `P${step}`, total: step }, stamp("sweep"));
  else if (one.kind === "person")
    put(mirror, "people", { id: one.id, name: `p${step}` }, { stamp: stamp("sweep") });
  else if (one.kind === "note")
    put(mirror, "notes", { ...note(one.id, 0, `${step}`), personId: one.person }, { stamp: stamp("sweep") });
  else if (one.kind === "receipt") putReceipt(mirror, one.id, stamp("hydrate"));
  else if (one.kind === "colour") {
    // A shade is a field that the connector does not know.
    const shade = one.shade === null ? {} : { shade: one.shade };
    put(mirror, "colours", { id: one.id, label: `c${step}`, ...shade }, { stamp: stamp("sweep") });
  } else {
    const lines = Array.from({ length: one.lines }, (_, n) => ({ id: n, title: `${step}`, quantity: n / 2 }));
    const own = { number: `N${step}`, total: step / 2, issuedOn: "2026-01-01", colourId: one.colour };
    const record = order(one.id, { ...own, lines });
    put(mirror, "orders", record, { source: "detail", stamp: stamp("hydrate") });
  }
}

/** A part of an order whose JSON does not say whose it is. */
function putReceipt(mirror: Mirror, key: number, stamp: ReadStamp): void {
  const overrides = { document_type: "order", document_id: key };
  put(mirror, "receipts", { id: key, amount: stamp.receivedSeq }, { stamp, overrides });
}
