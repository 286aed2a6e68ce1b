import { describe, expect, test } from "vitest";
import { planOf } from "./chaos-plan.ts";
import { judgeRequests } from "./judge-requests.ts";
import { judgeDeliveries } from "./judge-rest.ts";
import { judgeTakeovers, takeoversOf } from "./judge-takeovers.ts";
import { judgeWrites } from "./judge-writes.ts";
import { ownershipSpans, spansByCompany } from "./ownership-spans.ts";
import type { SeenRequest } from "./request-watch.ts";
import type { RecordedWrite, Row, WatchedTable } from "./write-oracle.ts";

const company = "acme";

/** Writes of one company, seconds after the start of an hour. */
class History {
  readonly writes: RecordedWrite[] = [];
  #owner: Row | null = null;

  owner(atS: number, process: string, epoch: number, lastsS: number | null): this {
    const node = lastsS === null ? null : process;
    const row = { company, epoch, node, expires_at: new Date((atS + (lastsS ?? 0)) * 1_000).toISOString() };
    const before = this.#owner;
    this.#owner = row;
    return this.#add(atS, process, "owners", row, before);
  }

  write(atS: number, process: string, what: WatchedTable, row: Row): this {
    return this.#add(atS, process, what, { company, ...row }, null);
  }

  #add(atS: number, process: string, what: WatchedTable, row: Row, before: Row | null): this {
    const ownerEpoch = Number(this.#owner?.["epoch"] ?? 0);
    const op = before ? "UPDATE" : "INSERT";
    const id = this.writes.length + 1;
    this.writes.push({ id, atMs: atS * 1_000, process, what, op, company, ownerEpoch, row, before });
    return this;
  }
}

const snapshot = (epoch: number, seq: number) => ({ epoch, seq, inbox_seq: 0 });

describe("writes", () => {
  test("a company that goes from one node to the next breaks nothing", () => {
    const { writes } = new History()
      .owner(0, "a.1", 1, 12)
      .write(1, "a.1", "changes", { seq: 1 })
      .write(1, "a.1", "snapshots", snapshot(1, 1))
      .owner(4, "a.1", 1, 12)
      .owner(20, "b.1", 2, 12)
      .write(21, "b.1", "changes", { seq: 2 })
      .write(21, "b.1", "snapshots", snapshot(2, 2))
      .owner(22, "b.1", 2, null);
    expect(judgeWrites(writes)).toEqual([]);
  });

  const owned = () => new History().owner(0, "a.1", 1, 12);
  test.each<[string, History, string]>([
    [
      "a second writer in an epoch",
      owned().write(1, "b.1", "snapshots", snapshot(1, 0)),
      "in epoch 1 of a.1",
    ],
    [
      "the next process of the same node",
      owned().write(1, "a.2", "reports", { epoch: 1 }),
      "in epoch 1 of a.1",
    ],
    ["a renewal by another", owned().owner(4, "b.1", 1, 12), "epoch 1 of a.1 was written by another"],
    ["a live owner replaced", owned().owner(4, "b.1", 2, 12), "epoch 2 was claimed while epoch 1 lived"],
    ["an epoch that goes back", owned().owner(20, "b.1", 3, 12).owner(40, "a.1", 2, 12), "from 3 to 2"],
    ["an epoch left out", owned().owner(20, "b.1", 3, 12), "epoch 3 followed 1"],
    [
      "a write of the epoch before",
      owned().owner(20, "b.1", 2, 12).write(21, "a.1", "reports", { epoch: 1, seq: 1 }),
      "reports of epoch 1 was written in epoch 2",
    ],
    [
      "a snapshot that goes back",
      owned().write(1, "a.1", "snapshots", snapshot(1, 9)).write(2, "a.1", "snapshots", snapshot(1, 8)),
      "snapshots.seq went back from 9 to 8",
    ],
    [
      "a gap in the change log",
      owned().write(1, "a.1", "changes", { seq: 1 }).write(2, "a.1", "changes", { seq: 3 }),
      "change 3 was written where 2 was expected",
    ],
    [
      "a change published twice",
      owned().write(1, "a.1", "changes", { seq: 1 }).write(2, "a.1", "changes", { seq: 1 }),
      "change 1 was written where 2 was expected",
    ],
    [
      "an inbox that was drained and is not",
      owned().write(1, "a.1", "inbox_heads", { drained: 5 }).write(2, "a.1", "inbox_heads", { drained: 4 }),
      "inbox_heads.drained went back from 5 to 4",
    ],
  ])("%s is found", (_name, { writes }, found) => {
    expect(judgeWrites(writes).join("\n")).toContain(found);
  });
});

function request(process: string, atS: number, status = 200): SeenRequest {
  return { company, process, method: "GET", path: "/clients", atMs: atS * 1_000, status };
}

describe("requests", () => {
  const spans = spansByCompany(
    ownershipSpans(
      new History().owner(10, "a.1", 1, 12).owner(30, "b.1", 2, 12).owner(35, "b.1", 2, null).writes,
    ),
  );
  test("an owner may send from its claim to its release, or to the end of its lease", () => {
    const fine = [request("a.1", 10), request("a.1", 22), request("b.1", 30), request("b.1", 35)];
    expect(judgeRequests(fine, spans, [])).toEqual({ broken: [], tolerated: 0 });
  });

  test.each([
    ["before the claim", request("a.1", 9.9)],
    ["after the lease", request("a.1", 22.1)],
    ["after the release", request("b.1", 35.1)],
    ["by another node", request("b.1", 12)],
    ["by the next process of the node", request("a.2", 12)],
    ["answered with 429", request("a.1", 12, 429)],
  ])("one %s is found", (_name, one) => {
    expect(judgeRequests([one], spans, []).broken).toHaveLength(1);
  });

  test("one that was in flight when its process was stopped is tolerated, a second one is not", () => {
    const stops = [{ process: "a.1", fromMs: 11_000, untilMs: 40_000 }];
    const late = request("a.1", 40.2);
    expect(judgeRequests([late], spans, stops)).toEqual({ broken: [], tolerated: 1 });
    expect(judgeRequests([late, late], spans, stops).broken).toHaveLength(1);
    expect(judgeRequests([request("a.1", 41.2)], spans, stops).broken).toHaveLength(1);
  });
});

/** The lease of `a.1` ends after 12 s; the next claim is made then. */
function takeoverAt(nextS: number) {
  const { writes } = new History().owner(0, "a.1", 1, 12).owner(nextS, "b.1", 2, 99);
  return { spans: spansByCompany(ownershipSpans(writes)), endMs: 100_000, away: [], kills: [] };
}

describe("takeovers", () => {
  test("a company waits from the end of the lease, or from the kill, without the time of Postgres", () => {
    const kills = [{ process: "a.1", atMs: 5_000 }];
    const away = [{ fromMs: 20_000, untilMs: 24_000 }];
    expect(takeoversOf(takeoverAt(30))).toMatchObject([{ reason: "lease lost", tookMs: 18_000 }]);
    expect(takeoversOf({ ...takeoverAt(30), kills })).toMatchObject([{ reason: "killed", tookMs: 25_000 }]);
    expect(takeoversOf({ ...takeoverAt(30), away })).toMatchObject([{ tookMs: 14_000 }]);
  });

  test("more than 30 s are found, and a company that nobody takes at all", () => {
    expect(judgeTakeovers(takeoversOf(takeoverAt(42)))).toEqual([]);
    expect(judgeTakeovers(takeoversOf(takeoverAt(42.1)))).toHaveLength(1);
    const { writes } = new History().owner(0, "a.1", 1, 12);
    const nobody = { ...takeoverAt(0), spans: spansByCompany(ownershipSpans(writes)) };
    expect(judgeTakeovers(takeoversOf(nobody))).toHaveLength(1);
  });

  test("what was released waits for nobody", () => {
    const { writes } = new History().owner(0, "a.1", 1, 12).owner(3, "a.1", 1, null).owner(90, "b.1", 2, 12);
    expect(takeoversOf({ ...takeoverAt(0), spans: spansByCompany(ownershipSpans(writes)) })).toEqual([]);
  });
});

test("a delivery that was answered with 204 and is in no inbox is found", () => {
  expect(judgeDeliveries(["evt_1", "evt_2"], new Set(["evt_1"]))).toHaveLength(1);
  expect(judgeDeliveries(["evt_1"], new Set(["evt_1"]))).toEqual([]);
});

test("a plan is repeated by its seed, and disturbs no more nodes at once than it may", () => {
  const options = { seed: 7, durationMs: 600_000, nodes: 3, atOnce: 2 };
  const plan = planOf(options);
  expect(planOf(options)).toEqual(plan);
  expect(planOf({ ...options, seed: 8 })).not.toEqual(plan);
  expect(new Set(plan.map(({ what }) => what)).size).toBe(4);
  for (const { atMs } of plan) {
    const busy = plan.filter((one) => "node" in one && one.atMs <= atMs && atMs <= one.atMs + one.lastsMs);
    expect(busy.length).toBeLessThan(3);
  }
  const counts = plan.map(
    ({ atMs }) => plan.filter((one) => atMs >= one.atMs && atMs <= one.atMs + one.lastsMs).length,
  );
  expect(Math.max(...counts)).toBeGreaterThan(1);
});
