import { createHmac } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { hourMs, systemClock, type Clock } from "../../src/base/clock.ts";
import { MirrorError } from "../../src/base/errors.ts";
import type { OpenCompany } from "../../src/host/host-context.ts";
import { ChangePusher } from "../../src/host/change-pusher.ts";
import { beginLog } from "../../src/state/log-identity.ts";
import { rememberIdentity } from "../../src/state/meta.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { Changes } from "../../src/store/apply/change-log.ts";
import { LoopTurns } from "../../src/store/transient-errors.ts";
import { load, minimal } from "../support/connector/config.ts";
import { eventually } from "../support/eventually.ts";
import { openHasty } from "../support/mirror/mirror.ts";
import { pruneMs, prune } from "../support/mirror/prune.ts";
import { put, remove, stampOf } from "../support/mirror/store.ts";
import { openSink } from "../support/sandbox/webhook-sink.ts";
import type { Received, Treatment, WebhookSink } from "../support/sandbox/webhook-sink.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { recordingLog } from "../support/terminal/terminal.ts";

const keyBytes = Buffer.alloc(32, 7);
/** Nobody waits for more than a moment for another look or attempt. */
const clock: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 10), signal) };

interface Follow {
  readonly tables?: readonly string[] | null;
  readonly redact?: Record<string, string>;
}

function sendingTo(url: string, redact: Record<string, string>) {
  const entry = `{ url: "${url}", secret: whsec_${keyBytes.toString("base64")}, allow_private: on }`;
  const { config } = load(minimal(`notify: [${entry}]\nreport: { redact: ${JSON.stringify(redact)} }`));
  return { settings: { config, company: config.companies[0]! }, receiver: config.notify[0]! };
}

/** Follows the changes of a mirror; `stop` resolves when nothing is on its way any more. */
function follow(
  mirror: Mirror,
  { url }: Pick<WebhookSink, "url">,
  { tables = null, redact = {} }: Follow = {},
) {
  const closing = new AbortController();
  const { log, records } = recordingLog();
  const slept: number[] = [];
  const turns = new LoopTurns(() => performance.now());
  const sleep: Clock["sleep"] = (ms, until) => {
    slept.push(ms);
    return clock.sleep(ms, until);
  };
  const seen = { clock: { ...clock, sleep }, log, turns };
  const context = { ...seen, random: seededRandom(1), version: "test", onSecrets: () => undefined };
  const { settings, receiver } = sendingTo(url, redact);
  const { signal } = new AbortController();
  // Only what a pusher needs of a company.
  const company = { context, settings, mirror, closed: closing.signal } as unknown as OpenCompany;
  const pusher = new ChangePusher(company, { ...receiver, tables }, signal);
  const ended = pusher.follow();
  const stop = async () => {
    closing.abort();
    await ended;
  };
  onTestFinished(stop);
  const isAt = () => noted(mirror)?.seq === new Changes(mirror.db).lastSeq();
  const caughtUp = () => eventually(isAt, "everything taken and noted");
  return { stop, pusher, ended, slept, caughtUp, said: () => records().map(({ msg }) => msg) };
}

/** A mirror and a receiver that is sent what changes from now on. */
async function following(options: Follow = {}) {
  const [mirror, sink] = [await openHasty(), await openSink()];
  const followed = follow(mirror, sink, options);
  await eventually(() => noted(mirror) !== null, "its beginning");
  return { mirror, sink, ...followed };
}

/** The position of the only receiver. */
function noted(mirror: Mirror) {
  const sql = "SELECT value FROM _meta WHERE key LIKE 'notify %'";
  const value = mirror.db.prepare(sql).pluck().get() ?? null;
  return parsed(value) as { seq: number; error: string | null; refuses: boolean } | null;
}

function addPeople(mirror: Mirror, from: number, to: number): void {
  for (let id = from; id <= to; id++)
    put(mirror, "people", { id, name: `P${id}`, email: `p${id}@x.sk`, score: null });
}

const seqs = (all: readonly Received[]) => all.map(({ json }) => (json["data"] as { seq: number }).seq);
const upTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1);
const parsed = (text: unknown): unknown => JSON.parse(String(text));

/** What was answered 2xx, by a sink that treats requests in this order, and after them kindly. */
function treatInOrder(sink: WebhookSink, treatments: readonly Treatment[]): Received[] {
  const taken: Received[] = [];
  sink.treat((request, index) => {
    const treatment = treatments[index] ?? 204;
    if (typeof treatment === "number" && treatment < 300) taken.push(request);
    return treatment;
  });
  return taken;
}

test("every change comes once and in order, as the change log shows it, signed by Standard Webhooks", async () => {
  const { mirror, sink, caughtUp } = await following();
  put(mirror, "people", '{"id":1,"name":"Ján\\n","email":null,"score":1.50}');
  put(mirror, "people", '{"id":1,"name":"Ján","email":null,"score":10000000000000000.10}');
  remove(mirror, "people", 1);
  await caughtUp();
  const shown = mirror.db.prepare("SELECT * FROM _changes ORDER BY seq").all() as Record<string, unknown>[];
  expect(sink.received.map(({ json }) => json)).toMatchObject(
    shown.map(({ before, after, ...facts }) => ({
      type: `people.${String(facts["op"])}`,
      timestamp: facts["at"],
      company: "acme",
      data: { ...facts, before: parsed(before), after: parsed(after) },
    })),
  );
  expect(sink.received[1]?.body.toString()).toContain('"score":10000000000000000.10');
  for (const { headers, body, json } of sink.received) {
    const { log, seq } = json["data"] as { log: string; seq: number };
    const [id, at] = [`${log}:${seq}`, String(headers["webhook-timestamp"])];
    expect(headers["webhook-id"]).toBe(id);
    expect(Math.abs(Number(at) - Date.now() / 1000)).toBeLessThan(100);
    const expected = createHmac("sha256", keyBytes).update(`${id}.${at}.`).update(body).digest("base64");
    expect(headers["webhook-signature"]).toBe(`v1,${expected}`);
  }
});

// Fault: network | a receiver answers 500, 429 or a redirect, resets the connection, or never ends its answer | between `serve` and a receiver of changes | every change is taken once and in order; later ones wait
test("whatever a receiver does, what it takes is every change once and in order", async () => {
  const { mirror, sink, caughtUp, said } = await following();
  const odd: Treatment[] = [500, 204, "reset", "redirect", 404, 204, 429, 500, "reset", "drip", 401, 200];
  const taken = treatInOrder(sink, odd);
  const dripped = () => sink.received.filter((_, index) => odd[index] === "drip");
  addPeople(mirror, 1, 8);
  await caughtUp();
  const all = sink.received.filter((one) => taken.includes(one) || dripped().includes(one));
  expect(seqs(all)).toEqual(upTo(8));
  for (const [index, seq] of seqs(sink.received).entries())
    expect(seq - (seqs(sink.received)[index - 1] ?? 1)).toBeLessThanOrEqual(1);
  expect(said().filter((one) => one === "the receiver takes changes again")).toHaveLength(4);
  expect(noted(mirror)).toMatchObject({ error: null, refuses: false });
});

// Fault: network | a receiver answers 410: it is gone | between `serve` and a receiver of changes | it is sent nothing more; the next start of `serve`, or a changed entry, sends what waits
test("a receiver that is gone is sent nothing more until changes are followed anew, and that is noted", async () => {
  const { mirror, sink, ...first } = await following();
  const taken = treatInOrder(sink, [204, 410]);
  addPeople(mirror, 1, 4);
  await first.ended;
  expect([seqs(taken), seqs(sink.received)]).toEqual([[1], [1, 2]]);
  const error = expect.stringMatching(/^it answered 410: nothing more is sent to it until /) as string;
  expect(noted(mirror)).toMatchObject({ seq: 1, error, refuses: true });
  expect(first.said()).toContain("a receiver of changes is gone");
  const second = follow(mirror, sink);
  await second.caughtUp();
  expect(seqs(taken)).toEqual([1, 2, 3, 4]);
});

test("what waits is due now, and while a receiver takes nothing for minutes an hour later; one that is gone gets none", async () => {
  const { mirror, sink, pusher, caughtUp, ended } = await following();
  expect(pusher.dueMs(0)).toBeNull();
  sink.treat(500);
  addPeople(mirror, 1, 1);
  expect(pusher.dueMs(0)).toBe(0);
  await eventually(() => pusher.dueMs(0) === hourMs, "many failures");
  sink.treat(204);
  await caughtUp();
  expect(pusher.dueMs(0)).toBeNull();
  sink.treat(410);
  addPeople(mirror, 2, 2);
  await ended;
  expect(pusher.dueMs(0)).toBeNull();
});

// Fault: network | a receiver answers 429 or 503 and asks to be left alone for hours | between `serve` and a receiver of changes | it is, for an hour at most
test.each([
  [503, "120", 120_000],
  [429, () => new Date(systemClock.nowMs() + 60_000).toUTCString(), 60_000],
  [503, "86400", 3_600_000],
] as const)("a receiver that answers %d and asks to wait is, an hour at most", async (status, asked, ms) => {
  const { mirror, sink, caughtUp, slept } = await following();
  const retryAfter = typeof asked === "string" ? asked : asked();
  treatInOrder(sink, [{ status, retryAfter }, 500]);
  addPeople(mirror, 1, 1);
  await caughtUp();
  expect(seqs(sink.received)).toEqual([1, 1, 1]);
  const longest = Math.max(...slept);
  expect(longest).toBeLessThanOrEqual(ms);
  expect(longest).toBeGreaterThan(ms - 2_000);
  expect(slept.filter((one) => one > 10_000)).toHaveLength(1);
});

// Fault: network | one of two receivers is dead | between `serve` and its receivers of changes | the other one gets every change at once
test("a receiver that is dead costs the other one nothing", async () => {
  const [mirror, dead, alive] = [await openHasty(), await openSink(), await openSink()];
  dead.treat("hang");
  follow(mirror, dead);
  follow(mirror, alive);
  const count = () => mirror.db.prepare("SELECT count(*) FROM _meta WHERE key LIKE 'notify %'").pluck().get();
  await eventually(() => count() === 2, "both beginnings");
  addPeople(mirror, 1, 5);
  await eventually(() => alive.received.length === 5, "all changes");
  expect(dead.received.length).toBeLessThanOrEqual(1);
});

// Fault: disk | the disk is full when a receiver has taken a change | the note of its position | nothing more is sent until it is noted
test("nothing is sent before it is on disk what was taken", async () => {
  const { mirror, sink, caughtUp } = await following();
  const apply = mirror.apply.bind(mirror);
  let [tries, isFull] = [0, true];
  addPeople(mirror, 1, 3);
  mirror.apply = (step) => {
    tries++;
    if (isFull) throw new MirrorError("database", "the disk is full");
    return apply(step);
  };
  await eventually(() => tries >= 5, "five vain notes");
  expect(seqs(sink.received)).toEqual([1]);
  isFull = false;
  await caughtUp();
  expect(seqs(sink.received)).toEqual([1, 2, 3]);
});

describe("a position", () => {
  // Fault: process | `serve` is killed while a receiver answers 2xx to a change | the position in the mirror | the next process sends again what was not noted, with the same webhook-id, and nothing else
  test("is where the next process goes on; a new receiver begins at the present end, and both say so", async () => {
    const [mirror, sink] = [await openHasty(), await openSink()];
    addPeople(mirror, 1, 3);
    const first = follow(mirror, sink);
    await eventually(() => noted(mirror)?.seq === 3, "its beginning");
    expect(first.said()).toEqual(["a new receiver gets what changes from now on"]);
    await first.stop();
    addPeople(mirror, 4, 5);
    const second = follow(mirror, sink);
    await second.caughtUp();
    expect([seqs(sink.received), second.said()]).toEqual([[4, 5], []]);
  });

  // Fault: disk | the mirror is restored, its change log is another one | the position of a receiver of changes | it begins at the present end, and says that the receiver must load all of it anew
  test("of another log says nothing: it goes on at the present end, and says so", async () => {
    const { mirror, sink, stop } = await following();
    await stop();
    addPeople(mirror, 1, 2);
    beginLog(mirror.db, mirror.db.name, Date.now());
    const path = mirror.db.name;
    mirror.close();
    const restored = await openHasty({ path });
    const second = follow(restored, sink);
    await eventually(() => (noted(restored)?.seq ?? 0) > 1_000, "its beginning in the new log");
    expect(second.said()).toEqual([expect.stringContaining("the change log is a new one")]);
    addPeople(restored, 3, 3);
    await second.caughtUp();
    expect(sink.received.map(({ json }) => json["data"])).toMatchObject([{ record_id: 3 }]);
  });

  test("before changes that were removed moves on, and says so", async () => {
    const { mirror, sink, stop } = await following();
    const day = 86_400_000;
    const change = (id: number, daysAgo: number) => {
      const stamp = stampOf(mirror, { receivedAtMs: pruneMs - daysAgo * day });
      put(mirror, "people", { id, name: `P${id}`, email: null, score: null }, { stamp });
    };
    await stop();
    for (const [index, daysAgo] of [30, 29, 2, 1].entries()) change(index + 1, daysAgo);
    await prune(mirror, { changesMs: 10 * day });
    const second = follow(mirror, sink);
    await second.caughtUp();
    expect(seqs(sink.received)).toEqual([3, 4]);
    expect(second.said()).toContain("changes were removed before the receiver took them");
  });

  test("moves over what a receiver does not get, so that it may be removed", async () => {
    const { mirror, sink, caughtUp } = await following({ tables: ["orders"] });
    addPeople(mirror, 1, 30);
    put(mirror, "orders", { id: 7, number: "A-7", total: 1 });
    addPeople(mirror, 31, 32);
    await caughtUp();
    expect(sink.received.map(({ json }) => json["type"])).toEqual(["orders.insert"]);
  });
});

// Fault: data | a field that the connector does not know appears while changes are sent | what is redacted of a pushed record | it is dropped, or follows its own rule, from its first record on
test("what report.redact hides leaves by no change, nor does a field that appears later", async () => {
  const [mirror, sink] = [await openHasty(), await openSink()];
  rememberIdentity(mirror, { name: "Acme", salt: "5aac11c0", fingerprint: "", businessId: null });
  const rules = { "people.email": "drop", "people.name": "hash", "people.*_phone": "drop", unknown: "keep" };
  const kept = follow(mirror, sink, { redact: rules });
  await eventually(() => noted(mirror) !== null, "its beginning");
  const named = { id: 1, name: "Kováč", email: "new@x.sk" };
  const kovac = (facts: object) => put(mirror, "people", { ...named, ...facts });
  kovac({ email: "kovac@x.sk", score: 1 });
  await kept.caughtUp();
  kovac({ score: 2, home_phone: "0900", nick: "KK" });
  await kept.caughtUp();
  await kept.stop();
  const text = sink.received.map(({ body }) => body.toString()).join("\n");
  expect(text).not.toMatch(/Kováč|@x\.sk|0900/);
  expect(text).toContain('"nick":"KK"');
  const dropped = follow(mirror, sink, { redact: { "people.email": "drop" } });
  kovac({ score: 3, home_phone: "0900", nick: "KL" });
  await dropped.caughtUp();
  expect(sink.received.at(-1)?.body.toString()).toContain('"nick":null');
});
