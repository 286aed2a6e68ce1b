import { faultsIn } from "../planted-fault.ts";

/** I3 and I4: reads that overlap with each other and with events. */
export const overlapFaults = faultsIn(
  `
  src/store/apply/resource-table.ts, found by test/store/fences.test.ts
    apply-without-stamp-check, I3: an answer that was sent earlier overwrites what a later one brought
      - return this.context.fences.isStale(this.resource.name, id, stamp.sentSeq, fence?.received_seq ?? 0);
      + return stamp.sentSeq < 0 && fence !== undefined && id === 0;
    stale-404-removes, I3: a 404 that was sent before the record was last read removes it
      - if (isLive(fence) && this.isStale(stamp, id, fence)) return "stale";
      -     this.context.quarantine
      + this.context.quarantine
  src/store/apply/table-context.ts, found by test/store/fences.test.ts
    applied-read-holds-nothing-back, I3: only reads that wrote nothing hold older answers back
      - return sentSeq <= Math.max(appliedSeq, confirmedSeq);
      + return sentSeq <= confirmedSeq && appliedSeq >= 0;
    confirming-read-holds-nothing-back, I3: a read that confirmed the record lets an older answer overwrite it
      - ids.set(id, receivedSeq);
      + if (receivedSeq < 0) ids.set(id, receivedSeq);
    fences-forgotten-with-any-answer, I3: any answer that ends forgets what others confirmed
      - if (this.inFlight.size === 0) this.confirmed.clear();
      + this.confirmed.clear();
  src/state/mirror.ts, found by test/state/mirror.test.ts
    sequence-begins-again, I3: after a restart numbers begin again, and every read looks older than what is stored
      - if (this.stored) this.meta.set("seq", this.last);
  src/sync/engine/engine.ts, found by test/sync/engine.test.ts
    send-stamp-from-before-the-permit, I3: a read counts as sent before it waited for its permit: what happened meanwhile asks for another read
      -       mirror.fences.end(sentSeq);
      -       sentSeq = mirror.sequence.next();
      -       mirror.fences.begin(sentSeq);
      -       tally.sent
      +       tally.sent
      outside: it costs a request more, and breaks no promise about data
    read-with-a-new-stamp-not-in-flight, I3: reads that confirm a record are forgotten while an older one is still under way
      - sentSeq = mirror.sequence.next();
      -       mirror.fences.begin(sentSeq);
      + sentSeq = mirror.sequence.next();
  src/state/work-queue.ts, found by test/state/work-queue.test.ts
    event-dropped-while-its-record-is-read, I4: a work item is removed although an event gave it a newer reason while it was read
      - this.execute("DELETE FROM _work WHERE id = ? AND dirty_seq <= ?", item.id, sentSeq);
      + this.execute("DELETE FROM _work WHERE id = ? AND ? > 0", item.id, sentSeq);
    newer-event-set-aside-with-the-read, I4: a read that fails for good takes with it the event that came meanwhile
      - SET attempts = attempts + 1, due_ms = ?, state = ?, error = ? WHERE id = ? AND dirty_seq <= ?
      + SET attempts = attempts + 1, due_ms = ?, state = ?, error = ? WHERE id = ? AND ? >= 0
  src/state/work-queue.ts, found by test/state/work-queue.test.ts test/webhook/ingest.test.ts
    event-joins-the-read-under-way, I4: an event for a record that is being read adds no reason: the read under way may be older
      - return id !== undefined && !this.leased.has(id);
      + return id !== undefined;
    newer-reason-keeps-the-old-number, I4: a second event on a record that is being read is answered by that read
      - dirty_seq = max(dirty_seq, excluded.dirty_seq),
    event-does-not-revive-a-dead-letter, I4: an event on a record that was set aside waits for the next run
      - attempts = 0, state = 'ready', error = NULL\`;
      + attempts = 0\`;
    event-on-a-waiting-record-waits, I4: an event on a record that waits for another attempt waits, too
      - due_ms = min(due_ms, excluded.due_ms),
  src/sync/apply/detail-answer.ts, found by test/sync/overlap.test.ts
    stale-answer-ends-the-work, I4: an answer that was not used removes the work item all the same
      - if (result === "stale") return;
  src/state/inbox/inbox.ts, found by test/state/inbox.test.ts test/sync/events.test.ts
    event-done-before-its-read, I4: an event counts as done by a read that was sent before it came
      - .where("dirty_seq", "<=", p.sentSeq)
      + .where("dirty_seq", ">=", 0)
  src/sync/apply/detail-answer.ts, found by test/sync/events.test.ts
    no-recheck-after-an-event, I4: an event that was sent before its own transaction committed is read too early, and never again
      -   queueRecheck(answer, events.length);
      +   if (at === "") queueRecheck(answer, events.length);
  src/sync/context/run-context.ts, found by test/sync/engine.test.ts
    received-counts-as-sent, I3: a read that was sent before another one's answer came counts as later
      - return { ...read, receivedSeq: mirror.sequence.next(),
      + return { ...read, receivedSeq: read.sentSeq,
  src/webhook/ingest/ingest.ts, found by test/webhook/ingest.test.ts
    event-as-old-as-the-last-read, I4: the read that was sent last before an event counts as its answer
      - const dirtySeq = mirror.sequence.next();
      + const dirtySeq = mirror.sequence.next() - 1;
`,
);
