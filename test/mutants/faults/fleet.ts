import { faultsIn, outside } from "../planted-fault.ts";

/** Many machines: one owner of each company, and nothing that only an owner had is lost. */
export const fleetFaults = faultsIn(
  `
  src/fleet/ownership/ownership.ts, found by test/fleet/ownership/lease-keeper.test.ts
    lease-outlives-a-pause-that-the-wall-clock-shows: a virtual machine that was paused for an hour believes that it still owns its companies
      -       clock.nowMs() - sentAt.nowMs < heldMs;
      +       true;
    lease-outlives-a-sleeping-machine: a machine that slept and woke with another time of day believes that it still owns its companies
      -       this.uptimeMs() - sentAt.uptimeMs < heldMs &&
    ended-lease-begins-again: an owner that was replaced goes on as long as its time would have lasted
      -     if (this.lost.aborted) return false;
      -     const { clock
      +     const { clock
  src/fleet/ownership/lease-keeper.ts, found by test/fleet/ownership/lease-keeper.test.ts
    lease-counted-from-the-answer: a renewal that was answered late lasts longer here than in Postgres
      - if (kept.has(lease.company)) lease.renewed(sentAt);
      + if (kept.has(lease.company)) lease.renewed(readSentAt(clock));
  src/fleet/postgres/tables/owners-table.ts, found by test/fleet/postgres/owners-table.test.ts
    own-live-lease-claimed-again: two assignments of one node own the same company
      - if (last?.live) return
      + if (last?.live && last.node !== node) return
    claim-keeps-the-epoch: a node that owned the company before has the epoch of the owner of now
      - epoch: eb("epoch", "+", 1), ...given
      + epoch: eb.ref("epoch"), ...given
    owner-checked-without-a-lock: a company is claimed between the check and the commit of what its last owner publishes
      -     .where("expires_at", ">", now)
      -     .forKeyShare();
      +     .where("expires_at", ">", now);
    expired-owner-publishes: who was paused for an hour publishes, as long as nobody else has claimed the company
      -     .where("expires_at", ">", now)
      -     .forKeyShare();
      +     .forKeyShare();
    account-of-a-claim-not-locked, I8: two companies of one account are claimed at once, each before the other is seen
      -   await lock.execute(db);
  src/fleet/assignment/permits.ts, found by test/fleet/assignment/permits.test.ts
    window-of-another-owner-not-waited-for, I8: a new owner sends beside what the last one has sent in the service's window
      -   waitForOthers(lease.quietMs);
    account-not-waited-for, I8: two new tokens of one company are read side by side, each with a budget of its own
      - (await isAccountNoted()) ? spent
      + ((await isAccountNoted()), true) ? spent
  src/http/pool.ts, found by test/http/connections.test.ts test/http/env-proxy.test.ts
    lost-company-still-asked: a process that was paused sends its request when the company has another owner
      -       assertMaySend();
  src/fleet/postgres/tables/inbox-table.ts, found by test/fleet/postgres/inbox-table.test.ts
    undrained-deliveries-deleted, I6: deliveries that no published snapshot has are deleted after a week
      -  AND i.seq <= h.drained
    inbox-numbers-given-without-a-lock, I6: receivers give the same numbers, or a later one becomes visible first and its reader skips the other
      -  FOR NO KEY UPDATE OF h
  src/fleet/assignment/drain.ts, found by test/fleet/assignment/drain.test.ts
    inbox-position-before-its-deliveries, I1: a kill between both loses deliveries that were answered with 204
      -   logStored(log, company, ingest.storeReceived(received, clock.nowMs(), notePosition));
      +   notePosition();
      +   logStored(log, company, ingest.storeReceived(received, clock.nowMs(), () => undefined));
  src/fleet/postgres/tables/snapshots-table.ts, found by test/fleet/postgres/tables.test.ts
    change-log-goes-back, I2: a mirror that is behind replaces the published one, and its change numbers come twice
      - if (snapshot.seq < publishedSeq) throw wouldGoBack(company, snapshot.seq, publishedSeq);
  src/file-store/file-store.ts, found by test/fleet/snapshot/snapshot.test.ts
    snapshot-published-unread: the pointer leads to a snapshot that the store did not keep as it was given
      - if (isSame(expected ?? sent, await hashOf(store.read(key, right.signal)))) return sent;
      + if (isSame(expected ?? sent, sent)) return sent;
  src/file-store/file-store.ts, found by test/fleet/snapshot/restore.test.ts
    damaged-snapshot-unpacked: whatever stands where the snapshot was is unpacked
      - if (!isSame(came, expected) || !isSame(await hashOf(target), expected)) throw damaged();
  src/fleet/assignment/local-mirror.ts, found by test/fleet/assignment/local-mirror.test.ts
    local-file-of-any-epoch-continued, I2: a node goes on from what it left before another one owned the company
      - return new Meta(db).get(epochKey) === epoch - 1 && !isBehind;
      + return Number(new Meta(db).get(epochKey)) < epoch && !isBehind;
  src/fleet/reports/publish-reports.ts, found by test/fleet/reports/reports.test.ts
    stored-reports-are-noted-by-nobody: files that a lost owner has stored stay for ever
      - await reports.begin(ownership, number, written);
      + await reports.begin(ownership, number, []);
  src/fleet/postgres/tables/companies-table.ts, found by test/fleet/postgres/removed-companies.test.ts
    company-keeps-the-day-of-its-first-joining, I6: deliveries that were refused while the company was out of the fleet are never missed
      - CASE WHEN c.removed THEN clock_timestamp() ELSE c.added_at END
      + c.added_at
  src/fleet/postgres/catalogue/plan-snapshot.ts, found by test/fleet/catalogue/catalogue.test.ts
    catalogue-keeps-files-that-count-no-more: a query of all companies has old rows beside the new ones, and fails when the old file is removed
      - now.files.filter(({ path }) => !keys.has(path));
      + now.files.filter(() => false);
    catalogue-narrows-a-type: what the last company has decides the type, and amounts of others lose digits or cannot be read
      - column_type: commonType(column_type, type)
      + column_type: type
`,
  outside.fleet,
);
