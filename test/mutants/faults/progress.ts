import { faultsIn } from "../planted-fault.ts";

/** I1 and I2: progress, rows and change log commit together. */
export const progressFaults = faultsIn(
  `
  src/sync/engine/engine.ts, found by test/sync/engine.test.ts
    work-done-before-its-answer, I1: the work item is removed in a transaction before that of its rows: a crash in between loses the read
      - if (item.kind === "list" || item.kind === "child") await applyList(answer, body);
      + run.queue.done(item, sentSeq);
      +       if (item.kind === "list" || item.kind === "child") await applyList(answer, body);
  src/sync/lists/list-answer.ts, found by test/sync/listing.test.ts test/sync/engine.test.ts
    list-done-with-its-first-part, I1: a long answer is done with its first part: a crash before the last part loses the rest of the page
      - await applyWhenFree(run, () => applyListed(answer, some, shown));
      + await applyWhenFree(run, () => {
      +       run.queue.done(item, stamp.sentSeq);
      +       applyListed(answer, some, shown);
      +     });
      outside: no simulated list has the thousand records of one part
  src/state/mirror.ts, found by test/state/mirror.test.ts test/store/change-log.test.ts
    apply-without-transaction, I1: each statement commits alone: a crash leaves rows without their change, and work done without rows
      - const result = inTransaction(this.db, () => {
      + const result = ((_db: Db, step: () => T) => step())(this.db, () => {
  src/webhook/ingest/ingest.ts, found by test/webhook/ingest.test.ts test/webhook/durable.test.ts
    event-work-after-its-commit, I1: an event is committed before the work that it asks for
      - followUps.commit();
      + queueMicrotask(() => followUps.commit());
  src/store/apply/resource-table.ts, found by test/store/fences.test.ts
    hydrated-row-without-change, I2: the detail of a provisional row is written without a row in the change log
      - const seq = this.logChange(stamp, id, isLive(fence) ? "update" : "insert", before, fence);
      + const seq = isProvisional(fence) ? (fence?.last_change ?? 0) : this.logChange(stamp, id, isLive(fence) ? "update" : "insert", before, fence);
  src/store/apply/resource-table.ts, found by test/store/change-log.test.ts
    tombstone-without-change, I2: a deletion has no row in the change log, so readers of the log keep the record
      - const seq = this.logChange(stamp, id, "delete", this.storedJson(id), fence);
      + const seq = fence.last_change;
    change-without-record-before, I2: the change log does not say what a record was before
      - const change = { stamp, resource: this.resource.name, id, op, before };
      + const change = { stamp, resource: this.resource.name, id, op, before: before && null };
  src/store/apply/merge-rules.ts, found by test/store/change-log.test.ts
    same-record-written-again, I2: a record whose bytes did not change is written, and logged as a change
      - if (whole && isKnown(whole, read.sha, read.source)) return "same";
  src/store/apply/resource-table.ts, found by test/store/resource-table.test.ts test/store/fences.test.ts
    same-values-in-other-order-written, I2: a list that writes the same values in another order makes an empty change
      - isLive(fence) && verdict === "compare" ? this.stored(id, fence) : null;
      + null;
  src/store/apply/change-log.ts, found by test/store/change-log.test.ts
    rolled-back-read-still-known, I2: after a rollback the next change names a read that is not in the database: the view hides it
      -   begin(): void {
      -     this.stamp = null;
      -   }
      +   begin(): void {}
    changes-not-linked, I2: an older change shows what the record is now as what it was after it
      - if (previous !== null) this.execute(
      + if (previous === -1) this.execute(
  src/sync/context/run-context.ts, found by test/sync/listing.test.ts test/sync/engine.test.ts
    failed-step-commits-with-others, I1: what a failing answer wrote before it failed commits with the answers of the same turn
      -         applyCounted(run, answer.step);
      +         answer.step();
  src/state/mirror.ts, found by test/store/growth.test.ts
    columns-of-a-rolled-back-answer-kept, I1: after a rollback statements name columns that are not there
      - for (const name of tables) this.openTable(resourceNamed(this.declaration, name));
  src/store/apply/resource-table.ts, found by test/store/growth.test.ts
    derived-row-without-change, I2: rows that are derived again change without a row in the change log
      -     if (!isGone) this.logDerived(id, held, stamp, "update");
      -     else if
      +     if (!isGone) return "written";
      +     if
      outside: all simulated processes have the same columns and decoding
  src/sync/run/begin-run.ts, found by test/e2e/runs.test.ts
    parents-share-anew, I7: each resumed run reads a share of parents' lists of its own, and the same lists again
      - full || parentsPerRun !== "auto" ? firstRun : 0
      + isSome ? Number.MAX_SAFE_INTEGER : full || parentsPerRun !== "auto" ? firstRun : 0
`,
);
