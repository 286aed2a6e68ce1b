import { faultsIn, outside } from "../planted-fault.ts";

/** Many machines: one owner of each company, and nothing that only an owner had is lost. */
export const fleetFaults = faultsIn(
  `
  lease-outlives-a-pause-that-the-wall-clock-shows: a virtual machine that was paused for an hour believes that it still owns its companies
    src/fleet/ownership/ownership.ts, found by test/fleet/ownership/lease-keeper.test.ts
    -       clock.nowMs() - sentAt.nowMs < heldMs;
    +       true;
  lease-outlives-a-sleeping-machine: a machine that slept and woke with another time of day believes that it still owns its companies
    src/fleet/ownership/ownership.ts, found by test/fleet/ownership/lease-keeper.test.ts
    -       this.uptimeMs() - sentAt.uptimeMs < heldMs &&
  lease-counted-from-the-answer: a renewal that was answered late lasts longer here than in Postgres
    src/fleet/ownership/lease-keeper.ts, found by test/fleet/ownership/lease-keeper.test.ts
    - if (kept.has(lease.company)) lease.renewed(sentAt);
    + if (kept.has(lease.company)) lease.renewed(readSentAt(clock));
  ended-lease-begins-again: an owner that was replaced goes on as long as its time would have lasted
    src/fleet/ownership/ownership.ts, found by test/fleet/ownership/lease-keeper.test.ts
    -     if (this.lost.aborted) return false;
    -     const { clock
    +     const { clock
  own-live-lease-claimed-again: two assignments of one node own the same company
    src/fleet/postgres/tables/owners-table.ts, found by test/fleet/postgres/owners-table.test.ts
    - if (last?.live) return
    + if (last?.live && last.node !== node) return
  claim-keeps-the-epoch: a node that owned the company before has the epoch of the owner of now
    src/fleet/postgres/tables/owners-table.ts, found by test/fleet/postgres/owners-table.test.ts
    - epoch: eb("epoch", "+", 1), ...given
    + epoch: eb.ref("epoch"), ...given
  owner-checked-without-a-lock: a company is claimed between the check and the commit of what its last owner publishes
    src/fleet/postgres/tables/owners-table.ts, found by test/fleet/postgres/owners-table.test.ts
    -     .where("expires_at", ">", now)
    -     .forKeyShare();
    +     .where("expires_at", ">", now);
  expired-owner-publishes: who was paused for an hour publishes, as long as nobody else has claimed the company
    src/fleet/postgres/tables/owners-table.ts, found by test/fleet/postgres/owners-table.test.ts
    -     .where("expires_at", ">", now)
    -     .forKeyShare();
    +     .forKeyShare();
  account-of-a-claim-not-locked, I8: two companies of one account are claimed at once, each before the other is seen
    src/fleet/postgres/tables/owners-table.ts, found by test/fleet/postgres/owners-table.test.ts
    -   await lock.execute(db);
  window-of-another-owner-not-waited-for, I8: a new owner sends beside what the last one has sent in the service's window
    src/fleet/assignment/permits.ts, found by test/fleet/assignment/permits.test.ts
    -   waitForOthers(lease.quietMs);
  lost-company-still-asked: a process that was paused sends its request when the company has another owner
    src/http/pool.ts, found by test/http/connections.test.ts test/http/env-proxy.test.ts
    -       assertMaySend();
  account-not-waited-for, I8: two new tokens of one company are read side by side, each with a budget of its own
    src/fleet/assignment/permits.ts, found by test/fleet/assignment/permits.test.ts
    - (await isAccountNoted()) ? spent
    + ((await isAccountNoted()), true) ? spent
  undrained-deliveries-deleted, I6: deliveries that no published snapshot has are deleted after a week
    src/fleet/postgres/tables/inbox-table.ts, found by test/fleet/postgres/inbox-table.test.ts
    -  AND i.seq <= h.drained
  inbox-numbers-given-without-a-lock, I6: receivers give the same numbers, or a later one becomes visible first and its reader skips the other
    src/fleet/postgres/tables/inbox-table.ts, found by test/fleet/postgres/inbox-table.test.ts
    -  FOR NO KEY UPDATE OF h
  inbox-position-before-its-deliveries, I1: a kill between both loses deliveries that were answered with 204
    src/fleet/assignment/drain.ts, found by test/fleet/assignment/drain.test.ts
    -   logStored(log, company, ingest.storeReceived(received, clock.nowMs(), notePosition));
    +   notePosition();
    +   logStored(log, company, ingest.storeReceived(received, clock.nowMs(), () => undefined));
  change-log-goes-back, I2: a mirror that is behind replaces the published one, and its change numbers come twice
    src/fleet/postgres/tables/snapshots-table.ts, found by test/fleet/postgres/tables.test.ts
    - if (snapshot.seq < publishedSeq) throw wouldGoBack(company, snapshot.seq, publishedSeq);
  snapshot-published-unread: the pointer leads to a snapshot that the store did not keep as it was given
    src/file-store/file-store.ts, found by test/fleet/snapshot/snapshot.test.ts
    - if (isSame(expected ?? sent, await hashOf(store.read(key, right.signal)))) return sent;
    + if (isSame(expected ?? sent, sent)) return sent;
  damaged-snapshot-unpacked: whatever stands where the snapshot was is unpacked
    src/file-store/file-store.ts, found by test/fleet/snapshot/restore.test.ts
    - if (!isSame(came, expected) || !isSame(await hashOf(target), expected)) throw damaged();
  local-file-of-any-epoch-continued, I2: a node goes on from what it left before another one owned the company
    src/fleet/assignment/local-mirror.ts, found by test/fleet/assignment/local-mirror.test.ts
    - return new Meta(db).get(epochKey) === epoch - 1 && !isBehind;
    + return Number(new Meta(db).get(epochKey)) < epoch && !isBehind;
  stored-reports-are-noted-by-nobody: files that a lost owner has stored stay for ever
    src/fleet/reports/publish-reports.ts, found by test/fleet/reports/reports.test.ts
    - await reports.begin(ownership, number, written);
    + await reports.begin(ownership, number, []);
  company-keeps-the-day-of-its-first-joining, I6: deliveries that were refused while the company was out of the fleet are never missed
    src/fleet/postgres/tables/companies-table.ts, found by test/fleet/postgres/tables.test.ts
    - CASE WHEN c.removed THEN clock_timestamp() ELSE c.added_at END
    + c.added_at
  catalogue-keeps-files-that-count-no-more: a query of all companies has old rows beside the new ones, and fails when the old file is removed
    src/fleet/postgres/catalogue/plan-snapshot.ts, found by test/fleet/catalogue/catalogue.test.ts
    - now.files.filter(({ path }) => !keys.has(path));
    + now.files.filter(() => false);
  catalogue-narrows-a-type: what the last company has decides the type, and amounts of others lose digits or cannot be read
    src/fleet/postgres/catalogue/plan-snapshot.ts, found by test/fleet/catalogue/catalogue.test.ts
    - column_type: commonType(column_type, type)
    + column_type: type
`,
  outside.fleet,
);
