import { describe, expect, test } from "vitest";
import { PostgresError } from "../../../src/fleet/postgres/postgres-error.ts";
import { createLeaseKeeper, leaseTimes } from "../../../src/fleet/ownership/lease-keeper.ts";
import type { Lease } from "../../../src/fleet/ownership/ownership.ts";
import { recordingLog } from "../../support/terminal/terminal.ts";
import { SimulatedTime } from "../../support/virtual/simulated-time.ts";

const { ttlMs, marginMs, renewEveryMs } = leaseTimes;
const heldMs = ttlMs - marginMs;

/** Postgres as the keeper sees it: it may be slow, away, or name another owner. */
class SimulatedOwners {
  readonly renewals: (readonly string[])[] = [];
  readonly released: string[] = [];
  quietMs: number | null = null;
  readonly takenOver = new Set<string>();
  isAway = false;
  answerMs = 5;
  private readonly time: SimulatedTime;

  constructor(time: SimulatedTime) {
    this.time = time;
  }

  async claim() {
    await this.answer();
    return { epoch: 7, quietMs: 15_000 };
  }

  async renew(_node: string, held: readonly { readonly company: string }[]): Promise<string[]> {
    const companies = held.map(({ company }) => company);
    this.renewals.push(companies);
    await this.answer();
    return companies.filter((company) => !this.takenOver.has(company));
  }

  async release({ company }: { readonly company: string }, quietMs = 0): Promise<boolean> {
    await this.answer();
    this.quietMs = quietMs;
    this.released.push(company);
    return true;
  }

  private async answer(): Promise<void> {
    const { isAway } = this;
    await this.time.sleep(this.answerMs);
    if (isAway) throw new PostgresError("Postgres does not answer", { retryable: true });
  }
}

/** A node that renews; time passes with `pass`. */
function aNode() {
  const time = new SimulatedTime(Date.UTC(2026, 10, 23));
  let setForwardMs = 0;
  let sleptMs = 0;
  const clock = {
    nowMs: () => time.nowMs() + setForwardMs,
    monotonicMs: () => time.monotonicMs(),
    sleep: (ms: number, signal?: AbortSignal) => time.sleep(ms, signal),
  };
  const owners = new SimulatedOwners(time);
  const { log, records } = recordingLog();
  const keeper = createLeaseKeeper(owners, "node-1", { clock, log }, () => time.monotonicMs() + sleptMs);
  const closed = new AbortController();
  void keeper.follow(closed.signal);
  const pass = (ms: number) => time.until(time.sleep(ms), 100_000);
  const claim = async (company: string): Promise<Lease> => {
    const result = await time.until(keeper.claim(company), 1_000);
    if (!("lease" in result)) throw new Error("the claim was refused");
    return result.lease;
  };
  const setClockForward = (ms: number) => (setForwardMs = ms);
  const sleep = (ms: number) => (sleptMs += ms);
  return { time, owners, keeper, pass, claim, records, setClockForward, sleep };
}

describe("an ownership", () => {
  test("is held as long as it is renewed, all companies of the node in one statement; ends alone when Postgres names another owner, and is not released then", async () => {
    const { owners, keeper, pass, claim } = aNode();
    const [acme, beta] = [await claim("acme"), await claim("beta")];
    await pass(60_000);
    expect([acme.isHeld(), beta.isHeld()]).toEqual([true, true]);
    expect(owners.renewals.at(-1)).toEqual(["acme", "beta"]);
    const sent = owners.renewals.filter((companies) => companies.length > 0).length;
    expect(sent).toBeLessThanOrEqual(60_000 / renewEveryMs + 1);
    owners.takenOver.add("acme");
    await pass(renewEveryMs + 100);
    expect([acme.isHeld(), beta.isHeld()]).toEqual([false, true]);
    expect(() => acme.assertHeld()).toThrow("Postgres names another owner");
    await keeper.release(acme);
    expect(owners.released).toEqual([]);
  });

  test("ends in its time with Postgres away, although nobody asks, and the company can be claimed again", async () => {
    const { owners, pass, claim, records } = aNode();
    const acme = await claim("acme");
    owners.isAway = true;
    await pass(heldMs + 1_000);
    expect(acme.lost.aborted).toBe(true);
    expect(records().filter(({ level }) => level === "warn")).toHaveLength(1);
    owners.isAway = false;
    const again = await claim("acme");
    await pass(30_000);
    expect([acme.isHeld(), again.isHeld()]).toEqual([false, true]);
  });

  test("lasts from before its statement was sent: an answer that comes too late renews nothing, and a claim that is answered too late is none", async () => {
    const { owners, pass, claim } = aNode();
    const acme = await claim("acme");
    await pass(renewEveryMs - 10);
    owners.answerMs = heldMs + 1_000;
    await pass(3 * heldMs);
    expect(acme.isHeld()).toBe(false);
    expect(acme.endedBecause).toBe("it was not renewed in time");
    const other = aNode();
    other.owners.answerMs = heldMs + 1;
    const late = await other.claim("acme");
    await other.pass(heldMs);
    expect([late.isHeld(), other.owners.renewals]).toEqual([false, []]);
  });

  test("survives a Postgres that was away for a while, and never answered a renewal", async () => {
    const { owners, pass, claim } = aNode();
    const acme = await claim("acme");
    owners.isAway = true;
    await pass(5_000);
    owners.isAway = false;
    await pass(30_000);
    owners.answerMs = 3_600_000;
    await pass(renewEveryMs);
    owners.answerMs = 5;
    await pass(60_000);
    expect(acme.isHeld()).toBe(true);
  });

  test("that was answered late is counted from when it was renewed, and not from the answer", async () => {
    const { owners, pass, claim } = aNode();
    const acme = await claim("acme");
    owners.answerMs = 5_000;
    await pass(renewEveryMs + 100);
    owners.isAway = true;
    await pass(heldMs - 1_000);
    expect(acme.isHeld()).toBe(true);
    await pass(1_000);
    expect(acme.isHeld()).toBe(false);
  });

  test("ends on a machine that slept, whether it woke with its wall clock set forward or back", async () => {
    const one = aNode();
    const acme = await one.claim("acme");
    one.setClockForward(heldMs + 1);
    expect(acme.isHeld()).toBe(false);
    one.setClockForward(0);
    expect(acme.isHeld()).toBe(false);
    const other = aNode();
    const [beta, gamma] = [await other.claim("beta"), await other.claim("gamma")];
    other.setClockForward(-60_000);
    expect(beta.isHeld()).toBe(true);
    other.sleep(heldMs + 1);
    expect([beta.isHeld(), gamma.isHeld()]).toEqual([false, false]);
  });

  test("ends here before it is released in Postgres, with the time of its last request; where it sent none, that of the owner before", async () => {
    const { owners, keeper, claim, time, pass } = aNode();
    const acme = await claim("acme");
    await pass(1_000);
    const released = keeper.release(acme);
    expect([acme.isHeld(), owners.released]).toEqual([false, []]);
    await time.until(released, 1_000);
    expect([owners.released, owners.quietMs]).toEqual([["acme"], 16_000]);
    const again = await claim("acme");
    await pass(2_000);
    again.noteRequest();
    await pass(3_000);
    await time.until(keeper.release(again), 1_000);
    expect(owners.quietMs).toBe(3_000);
  });
});
