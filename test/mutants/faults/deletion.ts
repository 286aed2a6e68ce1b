import { faultsIn } from "../planted-fault.ts";

/** I5 and I10: nothing is deleted without proof, and no mirror takes another company. */
export const deletionFaults = faultsIn(
  `
  tombstone-on-absence, I5: a record that a list did not show is removed without asking for it
    src/sync/lists/listing.ts, found by test/sync/deletion-proof.test.ts test/sync/moving-list.test.ts
    - for (const id of absent) queueRecord(answer, "absent", { resource: name, id });
    + for (const id of absent) removeRecord(answer, resource, id);
  any-404-deletes, I5: a 404 counts although the route never answered 200: a broken route deletes records
    src/sync/deletion/deletion.ts, found by test/sync/deletion-proof.test.ts
    - if (run.provenRoutes.has(name)) return { kind: "deleted" };
    + if (run.provenRoutes.has(name) || message !== "") return { kind: "deleted" };
  404-page-deletes, I5: a 404 page of a proxy deletes records
    src/sync/deletion/deletion.ts, found by test/sync/deletion-proof.test.ts
    -   if (message === null)
    -     return
    +   if (message === null && id === 0)
    +     return
  no-limit-of-deletions, I5: a run removes any number of records without leave
    src/sync/deletion/deletion.ts, found by test/sync/deletion-proof.test.ts
    - if (count > limit && !run.allowMassDelete) return false;
    outside: no simulated company loses more than twenty records of a resource in a run
  moved-list-is-whole, I5: a list that showed too few records counts as complete, and removes what has no route of its own
    src/sync/lists/reading.ts, found by test/sync/moving-list.test.ts
    - const kind = shownBy(all) === total ? "whole" : "again";
    + const kind = "whole";
  identity-not-checked, I10: the token of another company writes into the mirror
    src/sync/identity/identify.ts, found by test/sync/run.test.ts
    - if (verdict.kind === "refused" && !acceptIdentity) throw verdict.error;
  name-proves-the-company, I10: a sandbox company of the same name is taken for the mirrored one
    src/sync/identity/identify.ts, found by test/sync/run.test.ts
    - return proveCompany(mirror, pinned, ask);
    + return mirror ? { kind: "rotated", why: "the name is the same" } : proveCompany(mirror, pinned, ask);
  any-record-proves-the-company, I10: a record of the same id proves the company, whatever the record is
    src/sync/identity/identify.ts, found by test/sync/run.test.ts
    - if (there === value) return null;
    + if (there !== undefined) return null;
  events-without-identity, I10: the event worker accepts the token of another company
    src/sync/event-worker/event-worker.ts, found by test/e2e/events/outage.test.ts
    - identify(parts, { acceptIdentity: false, lane: "webhook", signal });
    + identify(parts, { acceptIdentity: true, lane: "webhook", signal });
  route-proven-for-ever, I5: a route that worked last week proves today's 404
    src/sync/deletion/deletion.ts, found by test/sync/events.test.ts
    - <= provenForMs;
    + <= Infinity;
  record-proves-its-own-route, I5: a 404 of a record is believed while others could prove the route
    src/sync/deletion/deletion.ts, found by test/sync/deletion-proof.test.ts
    - if (others.length > 0) return { kind: "probe", candidates: others };
  empty-list-deletes, I5: an empty answer removes every record that has no route of its own
    src/sync/lists/listing.ts, found by test/sync/deletion-proof.test.ts
    - if (isEmpty || shown.withoutId.length > 0) {
    + if (shown.withoutId.length > 0) {
  rows-read-during-the-list-are-absent, I5: a record that came while the list was read counts as absent
    src/sync/lists/listing.ts, found by test/sync/deletion-proof.test.ts
    - startedSeq: stamp.sentSeq,
    + startedSeq: Number.MAX_SAFE_INTEGER,
  mass-deletion-by-absence, I5: a list that lost half of its records is believed
    src/sync/lists/listing.ts, found by test/sync/deletion-proof.test.ts
    - if (!mayRemove(run, name, absent.length)) {
    + if (!mayRemove(run, name, 0)) {
    outside: no simulated company loses more than twenty records of a resource in a run
  rotation-forgets-salt-and-business-id, I10: a token that was replaced makes the mirror forget its business id and salt
    src/sync/identity/identify.ts, found by test/sync/run.test.ts
    - const pinned = pinnedIdentity(new Meta(mirror.db));
    -   if (pinned && verdict
    + const pinned = verdict.kind === "rotated" ? null : pinnedIdentity(new Meta(mirror.db));
    +   if (pinned && verdict
`,
);
