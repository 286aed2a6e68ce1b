import { faultsIn } from "../planted-fault.ts";

/** I11 and I12: at rest the mirror equals the service, and nothing is dropped. */
export const equalityFaults = faultsIn(
  `
  child-rows-stay-when-a-list-becomes-empty, I11: a document without lines keeps those that it had: every total is wrong
    src/store/tables/table-statements.ts, found by test/store/resource-table.test.ts
    - this.clearChildren(id);
    + if (rows.children.every((list) => list.length > 0)) this.clearChildren(id);
  child-rows-of-a-deleted-record-stay, I11: lines of a deleted document are still counted
    src/store/apply/resource-table.ts, found by test/store/resource-table.test.ts
    - this.statements.clearChildren(id);
    -     this.statements.of("markDeleted")
    + this.statements.of("markDeleted")
  absent-record-not-asked-for, I11: a record that was deleted at the service stays for ever
    src/sync/lists/listing.ts, found by test/sync/deletion-proof.test.ts
    - for (const id of absent) queueRecord(answer, "absent", { resource: name, id });
  changed-preview-not-read, I11: a document that its list shows otherwise is not read again
    src/store/apply/previews.ts, found by test/store/resource-table.test.ts
    - return differing.length === 0 ? null : { reason: "changed", listed: { ...listed, differing } };
    + return differing.length < Infinity ? null : { reason: "changed", listed: { ...listed, differing } };
  vanished-payment-stays, I11: a payment that its document does not show any more stays
    src/sync/apply/detail-answer.ts, found by test/sync/listing.test.ts
    -     removeOrReread(answer, owned, missing);
  list-of-a-new-parent-not-read, I11: the events of a new client are never read
    src/sync/lists/list-answer.ts, found by test/sync/initial-work.test.ts
    - if (takesParent(run, child.resource, parent, result))
    + if (takesParent(run, child.resource, parent, result) && id === 0)
  unknown-field-dropped, I12: a field that the connector does not know gets no column
    src/store/tables/row-decoder.ts, found by test/store/growth.test.ts
    - if (node.open) unknown?.push({ plan, path: [...path, key], value });
  older-rows-without-the-new-column, I12: a new column is empty for records that had the field before
    src/store/apply/resource-table.ts, found by test/store/growth.test.ts
    - for (const id of ids) this.derive(canonicalId(id), cause);
    + if (ids.size < 0) for (const id of ids) this.derive(canonicalId(id), cause);
    outside: earlier
  malformed-record-dropped, I12: a record that cannot become a row is lost without a word
    src/store/apply/resource-table.ts, found by test/store/resource-table.test.ts
    - quarantine.add(stamp, { resource: name, id, reason: error.message, json: slice.toString() });
  record-without-id-dropped, I12: a record without an id is lost
    src/sync/apply/detail-answer.ts, found by test/sync/moving-list.test.ts
    - const key = run.mirror.quarantine.add(stamp, kept, owner);
    + const key = \`\${kept.reason} \${stamp.sentSeq} \${owner}\`;
  event-of-unknown-type-dropped, I12: an event of a type that the connector does not know is answered and thrown away
    src/webhook/ingest/ingest.ts, found by test/webhook/ingest.test.ts
    -     if (isNew) {
    +     if (isNew && state !== "unknown") {
  event-without-route-not-logged, I12: what happened to a record that has no route stands nowhere
    src/webhook/ingest/follow-ups.ts, found by test/webhook/ingest.test.ts
    - if (evaluation.state === "kept") keepEvent(delivery, evaluation);
    + if (evaluation.state === "kept") return;
  long-numbers-rounded, I12: digits past the 15th are rounded away
    src/json/lossless.ts, found by test/json/lossless.test.ts
    - if (!mayLosePrecision(text)) {
    + if (!mayLosePrecision(text) || text.length > 0) {
  parquet-digits-past-2-53, I12: integers and amounts of more than 15 digits are rounded in Parquet
    src/export/parquet/typed-columns.ts, found by test/export/parquet.test.ts
    - const exactDigits = 15;
    + const exactDigits = 18;
    outside: report
  any-detail-covers-its-preview, I11: a preview that the detail does not show counts as read
    src/store/apply/previews.ts, found by test/store/resource-table.test.ts
    - return key === listed.key ? listed.sha : null;
    + return listed.sha;
  deleted-record-does-not-come-back, I11: a deleted record that the service shows again stays deleted
    src/store/apply/merge-rules.ts, found by test/store/resource-table.test.ts test/store/change-log.test.ts
    - return fence?.gone === 0;
    + return fence !== undefined;
  cascade-not-read, I11: what pointed to a deleted record still points to it
    src/sync/deletion/deletion.ts, found by test/sync/events.test.ts
    - for (const one of referring) queueRecord(read, "cascade", { resource: dependent, id: one });
    + if (referring.length < 0) queueRecord(read, "cascade", { resource: dependent, id });
  payments-of-a-deleted-document-stay, I11: payments of a deleted document are still counted
    src/sync/deletion/deletion.ts, found by test/sync/listing.test.ts test/sync/dependents.test.ts
    -     removeOrReread(read, owned, ownedBy(run, owned, resource, id));
    +     if (owned === resource) removeOrReread(read, owned, ownedBy(run, owned, resource, id));
  nothing-follows-from-a-list, I11: a credit note that a list found does not change its invoice
    src/sync/plan/dependents.ts, found by test/sync/dependents.test.ts
    - if (!isNews && (!isChange || stamp.cause === "webhook")) return;
    + if (!isNews) return;
  stale-record-of-a-list-not-read-again, I11: a record that two reads overlapped on is not read again
    src/sync/lists/list-answer.ts, found by test/sync/overlap.test.ts
    - if (outcome === "stale") queueOverlapped(answer, resource, id);
    -     else queueDependents
    + if (outcome !== "stale") queueDependents
  quarantined-record-not-updated, I12: the quarantine keeps the first bytes of a record that changed since
    src/store/apply/quarantine.ts, found by test/store/resource-table.test.ts
    - WHERE reason <> excluded.reason OR json <> excluded.json\`;
    + WHERE reason <> excluded.reason\`;
  unreadable-event-refused, I12: a signed body that is no JSON object is refused, and kept nowhere
    src/webhook/ingest/delivery.ts, found by test/webhook/delivery.test.ts test/webhook/ingest.test.ts
    - if (event === null) return deliveryOf(\`\${unreadablePrefix}\${hash("sha256", body)}\`, null, text ?? body);
    + if (event === null) return { status: 400, why: "the body is no event" };
`,
);
