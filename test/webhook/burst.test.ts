import { expect, test, vi } from "vitest";
import { Inbox } from "../../src/state/inbox/inbox.ts";
import { about, aReceiver, post, wire } from "../support/webhook/webhook.ts";
import { rows } from "../support/mirror/store.ts";

// Fault: webhook | fifty copies of one delivery at the same time | requests to the receiver | one inbox row and one read (I7)
test("I7 fifty copies of one delivery at the same time are one inbox row and one read", async () => {
  const receiver = await aReceiver();
  const one = post(about(17));
  const answers = await Promise.all(Array.from({ length: 50 }, () => receiver.deliver(one)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
  expect([receiver.count("_inbox"), receiver.count("_work")]).toEqual([1, 1]);
  expect(receiver.results.toSorted()).toEqual([...Array<string>(49).fill("acme known"), "acme stored"]);
});

// Fault: webhook | 10,000 events in a burst on 50 records | requests to the receiver | all stored, 50 reads, bounded memory
test("10,000 events in a burst on 50 records: all taken, 50 reads, few transactions, bounded memory", async () => {
  const receiver = await aReceiver({ limits: { unwaited: 500 } });
  const { db } = receiver.mirror;
  const commits = vi.spyOn(receiver.mirror, "apply");
  const bursts = Array.from({ length: 20 }, (_, line) =>
    Array.from({ length: 500 }, (__, i) => wire(post(about((line * 500 + i) % 50)))),
  );
  const before = process.memoryUsage().rss;
  const lines = await Promise.all(
    bursts.map(async (burst) => {
      const line = await receiver.dial(Buffer.concat(burst));
      return line.answers(500);
    }),
  );
  expect(lines.flat().filter((status) => status !== "204")).toEqual([]);
  expect(receiver.count("_inbox")).toBe(10_000);
  const work = rows(receiver.mirror, "SELECT count(*) AS n, sum(lane) AS lanes FROM _work");
  expect(work).toEqual([{ n: 50, lanes: 0 }]);
  expect(commits.mock.calls.length).toBeLessThan(2_000);
  expect(new Set(receiver.lines.map(({ level }) => level))).toEqual(new Set(["debug", "info"]));
  const said = receiver.lines.filter(({ level }) => level === "info");
  const inBursts = said.flatMap(({ fields }) => fields?.["events"] ?? []);
  expect(inBursts.length).toBeGreaterThan(0);
  expect(inBursts.reduce<number>((sum, events) => sum + Number(events), 0)).toBe(
    10_000 - (said.length - inBursts.length),
  );
  expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
  const read = { outcome: "updated", requestId: null, at: "2026-03-01T00:00:00.000Z" } as const;
  const completed = new Inbox(db).complete("people", "id:7", receiver.mirror.sequence.next(), read);
  expect(completed).toHaveLength(200);
});
