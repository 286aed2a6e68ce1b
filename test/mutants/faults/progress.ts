import { faultsIn } from "../planted-fault.ts";

/** I1 and I2: progress, rows and change log commit together. */
export const progressFaults = faultsIn(
  `
  work-done-before-its-answer, I1: the work item is removed in a transaction before that of its rows: a crash in between loses the read
    src/sync/engine/engine.ts, found by test/sync/engine.test.ts
    - if (item.kind === "list" || item.kind === "child") await applyList(answer, body);
    + run.queue.done(item, sentSeq);
    +       if (item.kind === "list" || item.kind === "child") await applyList(answer, body);
  list-done-with-its-first-part, I1: a long answer is done with its first part: a crash before the last part loses the rest of the page
    src/sync/lists/list-answer.ts, found by test/sync/listing.test.ts test/sync/engine.test.ts
    - await applyWhenFree(run, () => applyListed(answer, some, shown));
    + await applyWhenFree(run, () => {
    +       run.queue.done(item, stamp.sentSeq);
    +       applyListed(answer, some, shown);
    +     });
    outside: no simulated list has the thousand records of one part
  apply-without-transaction, I1: each statement commits alone: a crash leaves rows without their change, and work done without rows
    src/state/mirror.ts, found by test/state/mirror.test.ts test/store/change-log.test.ts
    - const result = inTransaction(this.db, () => {
    + const result = ((_db: Db, step: () => T) => step())(this.db, () => {
  event-work-after-its-commit, I1: an event is committed before the work that it asks for
    src/webhook/ingest/ingest.ts, found by test/webhook/ingest.test.ts test/webhook/durable.test.ts
    -       followUps.commit();
    -       return result;
    -     });
    +       queueMicrotask(() => followUps.commit());
    +       return result;
    +     });
  hydrated-row-without-change, I2: the detail of a provisional row is written without a row in the change log
    src/store/apply/resource-table.ts, found by test/store/fences.test.ts
    - const seq = this.logChange(stamp, id, isLive(fence) ? "update" : "insert", before, fence);
    + const seq = isProvisional(fence) ? (fence?.last_change ?? 0) : this.logChange(stamp, id, isLive(fence) ? "update" : "insert", before, fence);
  tombstone-without-change, I2: a deletion has no row in the change log, so readers of the log keep the record
    src/store/apply/resource-table.ts, found by test/store/change-log.test.ts
    - const seq = this.logChange(stamp, id, "delete", this.storedJson(id), fence);
    + const seq = fence.last_change;
  change-without-record-before, I2: the change log does not say what a record was before
    src/store/apply/resource-table.ts, found by test/store/change-log.test.ts
    - const change = { stamp, resource: this.resource.name, id, op, before };
    + const change = { stamp, resource: this.resource.name, id, op, before: before && null };
  same-record-written-again, I2: a record whose bytes did not change is written, and logged as a change
    src/store/apply/merge-rules.ts, found by test/store/change-log.test.ts
    - if (whole && isKnown(whole, read.sha, read.source)) return "same";
  same-values-in-other-order-written, I2: a list that writes the same values in another order makes an empty change
    src/store/apply/resource-table.ts, found by test/store/resource-table.test.ts test/store/fences.test.ts
    - isLive(fence) && verdict === "compare" ? this.stored(id, fence) : null;
    + null;
  rolled-back-read-still-known, I2: after a rollback the next change names a read that is not in the database: the view hides it
    src/store/apply/change-log.ts, found by test/store/change-log.test.ts
    -   begin(): void {
    -     this.stamp = null;
    -   }
    +   begin(): void {}
  failed-step-commits-with-others, I1: what a failing answer wrote before it failed commits with the answers of the same turn
    src/sync/context/run-context.ts, found by test/sync/listing.test.ts test/sync/engine.test.ts
    -         applyCounted(run, answer.step);
    +         answer.step();
  columns-of-a-rolled-back-answer-kept, I1: after a rollback statements name columns that are not there
    src/state/mirror.ts, found by test/store/growth.test.ts
    - for (const name of tables) this.openTable(resourceNamed(this.declaration, name));
  derived-row-without-change, I2: rows that are derived again change without a row in the change log
    src/store/apply/resource-table.ts, found by test/store/growth.test.ts
    -     if (!isGone) this.logDerived(id, held, stamp, "update");
    -     else if
    +     if (!isGone) return "written";
    +     if
    outside: all simulated processes have the same columns and decoding
  changes-not-linked, I2: an older change shows what the record is now as what it was after it
    src/store/apply/change-log.ts, found by test/store/change-log.test.ts
    - if (previous !== null) this.execute(
    + if (previous === -1) this.execute(
  parents-share-anew, I7: each resumed run reads a share of parents' lists of its own, and the same lists again
    src/sync/run/begin-run.ts, found by test/e2e/runs.test.ts
    - full || parentsPerRun !== "auto" ? firstRun : 0
    + isSome ? Number.MAX_SAFE_INTEGER : full || parentsPerRun !== "auto" ? firstRun : 0
`,
);
