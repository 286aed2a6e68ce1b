import { expect, test } from "vitest";
import { silentLog } from "../../../src/base/logger.ts";
import { createCompanySnapshots } from "../../../src/fleet/assignment/company-snapshots.ts";
import type { NodeContext } from "../../../src/fleet/assignment/node-context.ts";
import type { Lease } from "../../../src/fleet/ownership/ownership.ts";
import type { CompanySettings } from "../../../src/store/mirror-files.ts";
import { DrivenClock } from "../../support/virtual/driven-clock.ts";

test("what a receiver of changes was sent while a snapshot was made is in the last one", async () => {
  const { signal } = new AbortController();
  const asked: boolean[] = [];
  const publish = async (...parts: readonly unknown[]) => {
    asked.push(parts.at(-1) === true);
    // As it comes while the mirror is packed.
    if (asked.length === 1) snapshots.noteNews();
    return { id: "s", seq: 7, inbox_seq: 0, size_bytes: 1 };
  };
  const lease = { lost: signal, assertHeld: () => undefined, isHeld: () => true } as unknown as Lease;
  const node = { snapshotEveryMs: 60_000 };
  const context = { snapshots: { publish }, node, cutOff: signal } as unknown as NodeContext;
  const supervisor = { requests: {}, settings: {} as CompanySettings };
  const process = { clock: new DrivenClock(0), log: silentLog };
  const counts = { published: 0, failed: 0 };
  const snapshots = createCompanySnapshots(lease, context, process, supervisor, counts);
  await snapshots.publish("after a run");
  expect(snapshots.sharedSeq()).toBe(7);
  await snapshots.publishLast("before the release");
  await snapshots.publishLast("last");
  expect(asked).toEqual([false, true, false]);
});
