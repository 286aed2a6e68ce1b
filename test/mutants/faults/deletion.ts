import { faultsIn } from "../planted-fault.ts";

/** I5 and I10: nothing is deleted without proof, and no mirror takes another company. */
export const deletionFaults = faultsIn(
  `
  src/sync/lists/listing.ts, found by test/sync/deletion-proof.test.ts test/sync/moving-list.test.ts
    tombstone-on-absence, I5: a record that a list did not show is removed without asking for it
      - for (const id of absent) queueRecord(answer, "absent", { resource: name, id });
      + for (const id of absent) removeRecord(answer, resource, id);
  src/sync/deletion/deletion.ts, found by test/sync/deletion-proof.test.ts
    any-404-deletes, I5: a 404 counts although the route never answered 200: a broken route deletes records
      - if (run.provenRoutes.has(name)) return { kind: "deleted" };
      + if (run.provenRoutes.has(name) || message !== "") return { kind: "deleted" };
    404-page-deletes, I5: a 404 page of a proxy deletes records
      - if (message === null)
      + if (message === null && id === 0)
    no-limit-of-deletions, I5: a run removes any number of records without leave
      - if (count > limit && !run.allowMassDelete) return false;
      outside: no simulated company loses more than twenty records of a resource in a run
    record-proves-its-own-route, I5: a 404 of a record is believed while others could prove the route
      - if (others.length > 0) return { kind: "probe", candidates: others };
  src/sync/lists/reading.ts, found by test/sync/moving-list.test.ts
    moved-list-is-whole, I5: a list that showed too few records counts as complete, and removes what has no route of its own
      - const kind = shownBy(all) === total ? "whole" : "again";
      + const kind = "whole";
  src/sync/identity/identify.ts, found by test/sync/run.test.ts
    identity-not-checked, I10: the token of another company writes into the mirror
      - if (verdict.kind === "refused" && !acceptIdentity) throw verdict.error;
    name-proves-the-company, I10: a sandbox company of the same name is taken for the mirrored one
      - return proveCompany(mirror, pinned, ask);
      + return mirror ? { kind: "rotated", why: "the name is the same" } : proveCompany(mirror, pinned, ask);
    any-record-proves-the-company, I10: a record of the same id proves the company, whatever the record is
      - if (there === value) return null;
      + if (there !== undefined) return null;
    rotation-forgets-salt-and-business-id, I10: a token that was replaced makes the mirror forget its business id and salt
      - const pinned = pinnedIdentity(new Meta(mirror.db));
      -   if (pinned && verdict
      + const pinned = verdict.kind === "rotated" ? null : pinnedIdentity(new Meta(mirror.db));
      +   if (pinned && verdict
  src/sync/event-worker/event-worker.ts, found by test/e2e/events/events.test.ts
    events-without-identity, I10: the event worker accepts the token of another company
      - identify(parts, { acceptIdentity: false, lane: "webhook", signal });
      + identify(parts, { acceptIdentity: true, lane: "webhook", signal });
  src/sync/deletion/deletion.ts, found by test/sync/events.test.ts
    route-proven-for-ever, I5: a route that worked last week proves today's 404
      - <= provenForMs;
      + <= Infinity;
  src/sync/lists/listing.ts, found by test/sync/deletion-proof.test.ts
    empty-list-deletes, I5: an empty answer removes every record that has no route of its own
      - if (isEmpty || shown.withoutId.length > 0) {
      + if (shown.withoutId.length > 0) {
    rows-read-during-the-list-are-absent, I5: a record that came while the list was read counts as absent
      - startedSeq: stamp.sentSeq,
      + startedSeq: Number.MAX_SAFE_INTEGER,
    mass-deletion-by-absence, I5: a list that lost half of its records is believed
      - if (!mayRemove(run, name, absent.length)) {
      + if (!mayRemove(run, name, 0)) {
      outside: no simulated company loses more than twenty records of a resource in a run
`,
);
