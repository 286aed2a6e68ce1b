import { faultsIn } from "../planted-fault.ts";

/** I3 and I4: reads that overlap with each other and with events. */
export const overlapFaults = faultsIn(
  `
  apply-without-stamp-check, I3: an answer that was sent earlier overwrites what a later one brought
    src/store/apply/resource-table.ts, found by test/store/fences.test.ts
    - return this.context.fences.isStale(this.resource.name, id, stamp.sentSeq, fence?.received_seq ?? 0);
    + return stamp.sentSeq < 0 && fence !== undefined && id === 0;
  stale-404-removes, I3: a 404 that was sent before the record was last read removes it
    src/store/apply/resource-table.ts, found by test/store/fences.test.ts
    - if (isLive(fence) && this.isStale(stamp, id, fence)) return "stale";
    -     this.context.quarantine
    + this.context.quarantine
  applied-read-holds-nothing-back, I3: only reads that wrote nothing hold older answers back
    src/store/apply/table-context.ts, found by test/store/fences.test.ts
    - return sentSeq <= Math.max(appliedSeq, confirmedSeq);
    + return sentSeq <= confirmedSeq && appliedSeq >= 0;
  confirming-read-holds-nothing-back, I3: a read that confirmed the record lets an older answer overwrite it
    src/store/apply/table-context.ts, found by test/store/fences.test.ts
    - ids.set(id, receivedSeq);
    + if (receivedSeq < 0) ids.set(id, receivedSeq);
  sequence-begins-again, I3: after a restart numbers begin again, and every read looks older than what is stored
    src/state/mirror.ts, found by test/state/mirror.test.ts
    - if (this.stored) this.meta.set("seq", this.last);
  send-stamp-from-before-the-permit, I3: a read counts as sent before it waited for its permit: what happened meanwhile asks for another read
    src/sync/engine/engine.ts, found by test/sync/engine.test.ts
    -       mirror.fences.end(sentSeq);
    -       sentSeq = mirror.sequence.next();
    -       mirror.fences.begin(sentSeq);
    -       tally.sent
    +       tally.sent
    outside: it costs a request more, and breaks no promise about data
  event-dropped-while-its-record-is-read, I4: a work item is removed although an event gave it a newer reason while it was read
    src/state/work-queue.ts, found by test/state/work-queue.test.ts
    - this.execute("DELETE FROM _work WHERE id = ? AND dirty_seq <= ?", item.id, sentSeq);
    + this.execute("DELETE FROM _work WHERE id = ? AND ? > 0", item.id, sentSeq);
  event-joins-the-read-under-way, I4: an event for a record that is being read adds no reason: the read under way may be older
    src/state/work-queue.ts, found by test/state/work-queue.test.ts test/webhook/ingest.test.ts
    - return id !== undefined && !this.leased.has(id);
    + return id !== undefined;
  stale-answer-ends-the-work, I4: an answer that was not used removes the work item all the same
    src/sync/apply/detail-answer.ts, found by test/sync/overlap.test.ts
    - if (result === "stale") return;
  newer-event-set-aside-with-the-read, I4: a read that fails for good takes with it the event that came meanwhile
    src/state/work-queue.ts, found by test/state/work-queue.test.ts
    - SET attempts = attempts + 1, due_ms = ?, state = ?, error = ? WHERE id = ? AND dirty_seq <= ?
    + SET attempts = attempts + 1, due_ms = ?, state = ?, error = ? WHERE id = ? AND ? >= 0
  event-done-before-its-read, I4: an event counts as done by a read that was sent before it came
    src/state/inbox/inbox.ts, found by test/state/inbox.test.ts test/sync/events.test.ts
    - .where("dirty_seq", "<=", p.sentSeq)
    + .where("dirty_seq", ">=", 0)
  no-recheck-after-an-event, I4: an event that was sent before its own transaction committed is read too early, and never again
    src/sync/apply/detail-answer.ts, found by test/sync/events.test.ts
    -   queueRecheck(answer, events.length);
    +   if (at === "") queueRecheck(answer, events.length);
  read-with-a-new-stamp-not-in-flight, I3: reads that confirm a record are forgotten while an older one is still under way
    src/sync/engine/engine.ts, found by test/sync/engine.test.ts
    - sentSeq = mirror.sequence.next();
    -       mirror.fences.begin(sentSeq);
    -       tally
    + sentSeq = mirror.sequence.next();
    +       tally
  fences-forgotten-with-any-answer, I3: any answer that ends forgets what others confirmed
    src/store/apply/table-context.ts, found by test/store/fences.test.ts
    - if (this.inFlight.size === 0) this.confirmed.clear();
    + this.confirmed.clear();
  received-counts-as-sent, I3: a read that was sent before another one's answer came counts as later
    src/sync/context/run-context.ts, found by test/sync/engine.test.ts
    - return { ...read, receivedSeq: mirror.sequence.next(),
    + return { ...read, receivedSeq: read.sentSeq,
  event-as-old-as-the-last-read, I4: the read that was sent last before an event counts as its answer
    src/webhook/ingest/follow-ups.ts, found by test/webhook/ingest.test.ts
    - const dirtySeq = mirror.sequence.next();
    + const dirtySeq = mirror.sequence.next() - 1;
  newer-reason-keeps-the-old-number, I4: a second event on a record that is being read is answered by that read
    src/state/work-queue.ts, found by test/state/work-queue.test.ts test/webhook/ingest.test.ts
    - dirty_seq = max(dirty_seq, excluded.dirty_seq),
  event-does-not-revive-a-dead-letter, I4: an event on a record that was set aside waits for the next run
    src/state/work-queue.ts, found by test/state/work-queue.test.ts test/webhook/ingest.test.ts
    - attempts = 0, state = 'ready', error = NULL\`;
    + attempts = 0\`;
  event-on-a-waiting-record-waits, I4: an event on a record that waits for another attempt waits, too
    src/state/work-queue.ts, found by test/state/work-queue.test.ts test/webhook/ingest.test.ts
    - due_ms = min(due_ms, excluded.due_ms),
`,
);
