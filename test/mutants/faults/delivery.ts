import { faultsIn } from "../planted-fault.ts";

/** I6 and I7: deliveries are answered when they are stored, and stored once. */
export const deliveryFaults = faultsIn(
  `
  src/webhook/receiver.ts, found by test/webhook/durable.test.ts
    204-before-the-commit, I6: the service hears 204, and a crash before the commit loses the event
      - const isRoom = this.heldBytes + sizeBytes <= mostHeldBytes;
      + respond({ status: 204, why: "", reason: null });
      +     const isRoom = this.heldBytes + sizeBytes <= mostHeldBytes;
  src/webhook/receiver.ts, found by test/webhook/durable.test.ts test/webhook/refusals.test.ts
    204-for-what-cannot-be-stored, I6: the service hears 204 although the transaction failed
      - if (!result) return respond(this.failed(company, error));
      + if (!result) return respond({ status: 204, why: "", reason: null });
  src/webhook/ingest/group-commit.ts, found by test/webhook/group-commit.test.ts
    rest-of-a-failed-group-taken-as-stored, I6: one delivery spoils a group, and the others are answered without being stored
      - for (const one of group) await this.commitGroup([one]);
      + for (const one of group) one === group[0] ? await this.commitGroup([one]) : one.committed({} as R);
    results-of-a-group-mixed-up, I6: a delivery is answered with another one's result
      - committed(outcome.value[i] ?? null);
      + committed(outcome.value[i + 1] ?? outcome.value[0] ?? null);
  src/store/database.ts, found by test/webhook/durable.test.ts
    commit-without-fsync, I6: a power cut takes back an event that was answered with 204
      - db.pragma("synchronous = FULL");
      + db.pragma("synchronous = NORMAL");
  src/webhook/ingest/ingest.ts, found by test/webhook/ingest.test.ts test/webhook/burst.test.ts
    event-stored-twice, I7: a delivery that is sent again is stored again
      - const isNew = !this.ids.has(eventId);
      + const isNew = true;
  src/state/inbox/event-ids.ts, found by test/state/inbox.test.ts
    event-ids-forgotten, I7: only ids of the same transaction are known: a delivery that is sent again later is stored again
      -       this.unfiled.set(eventId, seq);
    filed-one-event-too-far, I7: the event after those that are filed is not known when it is sent again
      - this.meta.set(filedKey, this.lastSeq);
      + this.meta.set(filedKey, this.lastSeq + 1);
  src/webhook/ingest/ingest.ts, found by test/webhook/ingest.test.ts
    replayed-event-logged-again, I7: an event without a read stands in the change log once more with each replay
      - if (state === stored.state && state !== "waiting") return state;
  src/store/apply/resource-table.ts, found by test/store/fences.test.ts
    same-preview-written-again, I7: a page of previews that is read again changes provisional rows
      - if (!shown || (isLive(fence) && fence.sha === sha)) {
      + if (!shown) {
  src/store/apply/resource-table.ts, found by test/store/change-log.test.ts
    deleted-twice, I7: another 404 of a deleted record is another change
      - if (!isLive(fence)) {
      + if (!fence) {
`,
);
