import { describe, expect, test } from "vitest";
import { MirrorError } from "../../../src/base/errors.ts";
import { PostgresError } from "../../../src/fleet/postgres/postgres-error.ts";
import { Lease, readSentAt } from "../../../src/fleet/ownership/ownership.ts";
import type { PermitBlock } from "../../../src/fleet/postgres/tables/budgets-table.ts";
import { FleetPermits } from "../../../src/fleet/assignment/permits.ts";
import type { RateLimiter } from "../../../src/rate-limit/permit.ts";
import { recordingLog } from "../../support/terminal/terminal.ts";
import { SimulatedTime } from "../../support/virtual/simulated-time.ts";

const heldMs = 1_000_000;

/** Permits of an owner whose Postgres answers as `take` says; the rate limiter admits everything, after a while. */
function somePermits(take: (asked: number) => PermitBlock | Error, admitMs = 0) {
  const time = new SimulatedTime(Date.UTC(2026, 10, 23));
  const { log, records } = recordingLog();
  const lease = new Lease({ company: "acme", epoch: 7, node: "node-1", heldMs }, readSentAt(time), time);
  const asked: number[] = [];
  const budgets = {
    take: async (_: unknown, { spentMs }: { readonly spentMs: number }) => {
      asked.push(spentMs);
      await time.sleep(3);
      const answer = take(asked.length);
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  let lost = 0;
  const limiter: RateLimiter = {
    admit: async () => {
      if (admitMs > 0) await time.sleep(admitMs);
      return { answered: () => undefined, lost: () => void lost++ };
    },
    view: () => ({ limit: null, granted: 0, remaining: null, waitMs: 0 }),
  };
  const account = { isNoted: true };
  const isAccountNoted = () => Promise.resolve(account.isNoted);
  const owned = { lease, budgets, windowMs: 60_000, continues: () => false, isAccountNoted };
  const permits = new FleetPermits({ ...owned, clock: time, log });
  const guarded = permits.guard(limiter);
  const admit = (signal?: AbortSignal) => time.until(guarded.admit("list", signal), 10_000);
  return { time, lease, permits, asked, admit, records, account, lost: () => lost };
}

const block = { granted: 10, waitMs: 0 };
const away = () => new PostgresError("Postgres does not answer", { retryable: true });

describe("permits of a fleet", () => {
  test("are taken in blocks: one statement for ten requests, and another after five seconds", async () => {
    const { admit, asked, time } = somePermits(() => block);
    for (let i = 0; i < 25; i++) await admit();
    expect(asked).toHaveLength(3);
    await time.until(time.sleep(5_000), 10);
    await admit();
    expect(asked).toHaveLength(4);
  });

  test("of a block are counted from before its statement: those of a slow one last shorter", async () => {
    const { admit, asked, time } = somePermits(() => block);
    await admit();
    await time.until(time.sleep(4_990), 10);
    await admit();
    expect(asked).toHaveLength(1);
    await time.until(time.sleep(10), 10);
    await admit();
    expect(asked).toHaveLength(2);
  });

  test("are taken once for all who wait", async () => {
    const { permits, asked, time } = somePermits(() => block);
    const limiter: RateLimiter = {
      admit: () => Promise.resolve({ answered: () => undefined, lost: () => undefined }),
      view: () => ({ limit: null, granted: 0, remaining: null, waitMs: 0 }),
    };
    const guarded = permits.guard(limiter);
    await time.until(Promise.all(Array.from({ length: 8 }, () => guarded.admit("list"))), 10_000);
    expect(asked).toHaveLength(1);
  });

  test("wait until those of the owner before have left the window, and say so", async () => {
    const { admit, asked, time, records } = somePermits((n) =>
      n === 1 ? { granted: 0, waitMs: 40_000 } : block,
    );
    await admit();
    expect(time.passedMs).toBeGreaterThan(40_000);
    expect(asked).toEqual([66_000, 66_000]);
    expect(records().map(({ msg }) => msg)).toEqual([
      expect.stringContaining("requests wait until those of"),
    ]);
  });

  test("are asked for again while Postgres is away, as long as the company is owned", async () => {
    const { admit, asked } = somePermits((n) => (n < 5 ? away() : block));
    await admit();
    expect(asked).toHaveLength(5);
  });

  test("wait until Postgres knows whose account they are of, and end with the ownership or who stops", async () => {
    const { admit, account, asked, time, lease } = somePermits(() => block);
    account.isNoted = false;
    time.after(3_000, () => (account.isNoted = true));
    await admit();
    expect(time.passedMs).toBeGreaterThanOrEqual(3_000);
    expect(asked).toHaveLength(1);
    account.isNoted = false;
    const stopping = new AbortController();
    time.after(1_000, () => stopping.abort());
    await expect(admit(stopping.signal)).rejects.toMatchObject({ kind: "stopped" });
    time.after(1_000, () => lease.end("another owner"));
    await expect(admit()).rejects.toMatchObject({ kind: "locked" });
  });

  test("are given to nobody who lost the company, however it was lost", async () => {
    const none = somePermits(() => away());
    const waiting = none.admit();
    none.time.after(2_000, () => none.lease.end("it was not renewed in time"));
    await expect(waiting).rejects.toMatchObject({ kind: "locked" });
    const other = somePermits(() => new MirrorError("locked", "the company has another owner"));
    await expect(other.admit()).rejects.toMatchObject({ kind: "locked" });
    expect(other.lease.isHeld()).toBe(false);
    expect(() => other.permits.assertMaySend()).toThrow("the company has another owner");
  });

  test("are given back to the rate limiter by who loses the company after it admitted a request", async () => {
    // The block is over when the request is admitted: it needs another one, and the company is lost meanwhile.
    const { admit, lease, lost, time } = somePermits(() => block, 6_000);
    const waiting = admit();
    time.after(5_000, () => lease.end("another owner"));
    await expect(waiting).rejects.toMatchObject({ kind: "locked" });
    expect(lost()).toBe(1);
  });

  test("are no longer waited for by who stops", async () => {
    const { admit, time } = somePermits(() => ({ granted: 0, waitMs: 60_000 }));
    const stopping = new AbortController();
    time.after(1_000, () => stopping.abort());
    await expect(admit(stopping.signal)).rejects.toMatchObject({ kind: "stopped" });
    expect(time.passedMs).toBeLessThan(2_000);
  });
});
