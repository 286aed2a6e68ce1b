import { faultsIn } from "../planted-fault.ts";

/** I11 and I12: at rest the mirror equals the service, and nothing is dropped. */
export const equalityFaults = faultsIn(
  `
  src/store/tables/table-statements.ts, found by test/store/resource-table.test.ts
    child-rows-stay-when-a-list-becomes-empty, I11: a document without lines keeps those that it had: every total is wrong
      - this.clearChildren(id);
      + if (rows.children.every((list) => list.length > 0)) this.clearChildren(id);
  src/store/apply/resource-table.ts, found by test/store/resource-table.test.ts test/store/derive.test.ts
    child-rows-of-a-deleted-record-stay, I11: lines of a deleted document are still counted
      - this.statements.clearChildren(id);
      -     this.statements.of("markDeleted")
      + this.statements.of("markDeleted")
    malformed-record-dropped, I12: a record that cannot become a row is lost without a word
      - quarantine.add(stamp, { resource: name, id, reason: error.message, json: slice.toString() });
  src/sync/lists/listing.ts, found by test/sync/deletion-proof.test.ts
    absent-record-not-asked-for, I11: a record that was deleted at the service stays for ever
      - for (const id of absent) queueRecord(answer, "absent", { resource: name, id });
  src/store/apply/previews.ts, found by test/store/resource-table.test.ts
    changed-preview-not-read, I11: a document that its list shows otherwise is not read again
      - return differing.length === 0 ? null : { reason: "changed", listed: { ...listed, differing } };
      + return differing.length < Infinity ? null : { reason: "changed", listed: { ...listed, differing } };
    any-detail-covers-its-preview, I11: a preview that the detail does not show counts as read
      - return key === listed.key ? listed.sha : null;
      + return listed.sha;
  src/sync/apply/detail-answer.ts, found by test/sync/listing.test.ts
    vanished-payment-stays, I11: a payment that its document does not show any more stays
      -     removeOrReread(answer, owned, missing);
  src/sync/lists/list-answer.ts, found by test/sync/initial-work.test.ts
    list-of-a-new-parent-not-read, I11: the events of a new client are never read
      - if (takesParent(run, child.resource, parent, result))
      + if (takesParent(run, child.resource, parent, result) && id === 0)
  src/store/tables/row-decoder.ts, found by test/store/growth.test.ts
    unknown-field-dropped, I12: a field that the connector does not know gets no column
      - if (node.open) unknown?.push({ plan, path: [...path, key], value });
  src/store/apply/resource-table.ts, found by test/store/growth.test.ts
    older-rows-without-the-new-column, I12: a new column is empty for records that had the field before
      - for (const id of ids) this.derive(canonicalId(id), cause);
      + if (ids.size < 0) for (const id of ids) this.derive(canonicalId(id), cause);
      outside: earlier
  src/sync/apply/detail-answer.ts, found by test/sync/moving-list.test.ts
    record-without-id-dropped, I12: a record without an id is lost
      - const key = run.mirror.quarantine.add(stamp, kept, owner);
      + const key = \`\${kept.reason} \${stamp.sentSeq} \${owner}\`;
  src/webhook/ingest/ingest.ts, found by test/webhook/ingest.test.ts
    event-of-unknown-type-dropped, I12: an event of a type that the connector does not know is answered and thrown away
      -     if (isNew) {
      +     if (isNew && state !== "unknown") {
    event-without-route-not-logged, I12: what happened to a record that has no route stands nowhere
      - if (evaluation.state === "kept") keepEvent(delivery, evaluation);
      + if (evaluation.state === "kept") return;
  src/json/lossless.ts, found by test/json/lossless.test.ts
    long-numbers-rounded, I12: digits past the 15th are rounded away
      - if (!mayLosePrecision(text)) {
      + if (!mayLosePrecision(text) || text.length > 0) {
  src/export/parquet/typed-columns.ts, found by test/export/any-rows.test.ts
    parquet-digits-past-2-53, I12: integers and amounts of more than 15 digits are rounded in Parquet
      - const exactDigits = 15;
      + const exactDigits = 18;
      outside: report
  src/store/apply/merge-rules.ts, found by test/store/resource-table.test.ts test/store/change-log.test.ts
    deleted-record-does-not-come-back, I11: a deleted record that the service shows again stays deleted
      - return fence?.gone === 0;
      + return fence !== undefined;
  src/sync/deletion/deletion.ts, found by test/sync/events.test.ts
    cascade-not-read, I11: what pointed to a deleted record still points to it
      - for (const one of referring) queueRecord(read, "cascade", { resource: dependent, id: one });
      + if (referring.length < 0) queueRecord(read, "cascade", { resource: dependent, id });
  src/sync/deletion/deletion.ts, found by test/sync/listing.test.ts test/sync/dependents.test.ts
    payments-of-a-deleted-document-stay, I11: payments of a deleted document are still counted
      -     removeOrReread(read, owned, ownedBy(run, owned, resource, id));
      +     if (owned === resource) removeOrReread(read, owned, ownedBy(run, owned, resource, id));
  src/sync/plan/dependents.ts, found by test/sync/dependents.test.ts
    nothing-follows-from-a-list, I11: a credit note that a list found does not change its invoice
      - if (!isNews && (!isChange || stamp.cause === "webhook")) return;
      + if (!isNews) return;
  src/sync/lists/list-answer.ts, found by test/sync/overlap.test.ts
    stale-record-of-a-list-not-read-again, I11: a record that two reads overlapped on is not read again
      - if (outcome === "stale") queueOverlapped(answer, resource, id);
      -     else queueDependents
      + if (outcome !== "stale") queueDependents
  src/store/apply/quarantine.ts, found by test/store/resource-table.test.ts
    quarantined-record-not-updated, I12: the quarantine keeps the first bytes of a record that changed since
      - WHERE reason <> excluded.reason OR json <> excluded.json\`;
      + WHERE reason <> excluded.reason\`;
  src/webhook/ingest/delivery.ts, found by test/webhook/delivery.test.ts test/webhook/ingest.test.ts
    unreadable-event-refused, I12: a signed body that is no JSON object is refused, and kept nowhere
      - if (event === null) return deliveryOf(\`\${unreadablePrefix}\${hash("sha256", body)}\`, null, text ?? body);
      + if (event === null) return { status: 400, why: "the body is no event" };
`,
);
