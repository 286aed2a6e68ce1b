import { describe, expect, test } from "vitest";
import { createFleetPermits } from "../../../src/fleet/assignment/permits.ts";
import { Lease, readSentAt } from "../../../src/fleet/ownership/ownership.ts";
import { PostgresError } from "../../../src/fleet/postgres/postgres-error.ts";
import type { AccountUse, QuietMs } from "../../../src/fleet/postgres/tables/owners-table.ts";
import type { CompanySupervisor } from "../../../src/host/company-supervisor.ts";
import { identityKey } from "../../../src/state/meta.ts";
import { recordingLog } from "../../support/terminal/terminal.ts";
import { SimulatedTime } from "../../support/virtual/simulated-time.ts";

/** Permits of an owner; Postgres answers as `note` says, and the rate limiter admits everything. */
function somePermits(
  quietMs: QuietMs,
  note: () => AccountUse | Error = () => ({ rival: null, quietMs: null }),
) {
  const time = new SimulatedTime(Date.UTC(2026, 10, 23));
  const { log, records } = recordingLog();
  const owner = { company: "acme", epoch: 7, node: "node-1", heldMs: 1_000_000, quietMs };
  const lease = new Lease(owner, readSentAt(time), time);
  const meta = new Map<string, unknown>();
  const asked: string[] = [];
  const setAccount = async (_: unknown, account: string) => {
    asked.push(account);
    await time.sleep(3);
    const answer = note();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const opened = { mirror: { meta: { get: (key: string) => meta.get(key) ?? null } } };
  const supervisor = { opened, settings: { config: { baseUrl: "https://service.example" } } };
  const held = () => supervisor as unknown as CompanySupervisor;
  const permits = createFleetPermits(lease, { setAccount }, null, 60_000, held, { clock: time, log });
  const guarded = permits.guard({
    admit: () => Promise.resolve({ answered: () => undefined, lost: () => undefined }),
    view: () => ({ limit: null, granted: 0, remaining: null, waitMs: 0 }),
  });
  const identify = () => meta.set(identityKey, { name: "Acme" });
  const admit = (signal?: AbortSignal) => time.until(guarded.admit("list", signal), 10_000);
  return { time, lease, permits, asked, admit, identify, records };
}

describe("permits of a fleet", () => {
  test.each<[string, QuietMs, number]>([
    ["at once where nobody owned the company", null, 0],
    ["at once where the last request of the owner before has left the service's window", 61_000, 0],
    ["as soon as it has left it", 21_000, 40_000],
  ])("are given %s (I8)", async (_when, quietMs, passedMs) => {
    const { admit, time, records } = somePermits(quietMs);
    await admit();
    expect(time.passedMs).toBe(passedMs);
    expect(records().map(({ msg }) => msg)).toEqual(
      passedMs === 0 ? [] : [expect.stringContaining("requests wait until those of the owner before")],
    );
  });

  test("wait until Postgres knows whose account they are of, also while it is away", async () => {
    const away = new PostgresError("Postgres does not answer", { retryable: true });
    let answer: AccountUse | Error = away;
    const { admit, asked, identify, time } = somePermits(null, () => answer);
    identify();
    time.after(3_000, () => (answer = { rival: null, quietMs: null }));
    await admit();
    expect(time.passedMs).toBeGreaterThanOrEqual(3_000);
    const before = asked.length;
    await admit();
    expect(asked).toHaveLength(before);
  });

  test("wait for the window of another company of the account that its owner has learned (I8)", async () => {
    const { admit, identify, time } = somePermits(null, () => ({ rival: null, quietMs: 11_000 }));
    identify();
    await admit();
    expect(time.passedMs).toBeGreaterThanOrEqual(50_000);
  });

  test("are given to none while another company of the account is owned", async () => {
    const use: AccountUse = { rival: "branch", quietMs: 0 };
    const { admit, identify, lease, permits, time } = somePermits(null, () => use);
    identify();
    time.after(1_000, () => lease.end("it was released"));
    await expect(admit()).rejects.toMatchObject({ kind: "locked" });
    expect(permits.rival()).toBe("branch");
  });

  test("are no longer waited for by who stops, or who loses the company", async () => {
    const { admit, time, lease, permits } = somePermits(0);
    const stopping = new AbortController();
    time.after(1_000, () => stopping.abort());
    await expect(admit(stopping.signal)).rejects.toMatchObject({ kind: "stopped" });
    expect(time.passedMs).toBeLessThan(2_000);
    time.after(1_000, () => lease.end("another owner"));
    await expect(admit()).rejects.toMatchObject({ kind: "locked" });
    expect(() => permits.assertMaySend()).toThrow("another owner");
  });
});
