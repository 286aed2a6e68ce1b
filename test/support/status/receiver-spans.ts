import { hourMs } from "../../../src/base/clock.ts";
import type { Db } from "../../../src/store/database.ts";
import { startMs } from "../mirror/store.ts";

/** A receiver ran in these spans: `0-100 101-240`, hours after the first moment of the tests. */
export function receiverRan(db: Db, spans: string): void {
  const insert = db.prepare("INSERT INTO _receiver (started_ms, seen_ms) VALUES (?, ?)");
  for (const [, from, to] of spans.matchAll(/([\d.]+)-([\d.]+)/g))
    insert.run(startMs + Number(from) * hourMs, startMs + Number(to) * hourMs);
}
