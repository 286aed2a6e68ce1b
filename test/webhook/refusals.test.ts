import { describe, expect } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/logger.ts";
import type { Answer } from "../../src/webhook/ingest/delivery.ts";
import { Receiver, type AdmittedDelivery } from "../../src/webhook/receiver.ts";
import { rows } from "../support/mirror/store.ts";
import { oneBody as body, refusals } from "../support/webhook/invalid-deliveries.ts";
import {
  about,
  aReceiver,
  eventText,
  forged,
  keyringOf,
  post,
  secret,
  sign,
  wire,
  test,
} from "../support/webhook/webhook.ts";

const now = () => Math.floor(Date.now() / 1000);

describe("an invalid delivery is refused, and nothing of it is stored", () => {
  // Fault: webhook | a true delivery of one company is sent to another one | a request to a receiver with another secret | 401, and nothing is stored
  // Fault: webhook | ten invalid deliveries, each wrong in one way | requests to the receiver | each is refused and logged, and nothing is stored
  // Fault: webhook | headers missing, doubled, changed, or signed by another secret | request headers | refused for the right reason, nothing stored
  // Fault: secrets | refused and accepted deliveries | requests to the receiver | no line has a secret, a signature or a body (I9)
  test("I9 each for its own reason, with a text of our own, counted, and logged without secret, signature or body", async () => {
    const receiver = await aReceiver();
    for (const [what, make, status] of refusals) {
      const answer = await receiver.deliver(make());
      const text = await answer.text();
      expect({ what, status: answer.status }).toEqual({ what, status });
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
      for (const hidden of ["evt-1", "evt-2", secret, sign(body)]) expect(text).not.toContain(hidden);
    }
    expect(receiver.results).toEqual(refusals.map(([, , status]) => `acme ${status}`));
    expect([receiver.count("_inbox"), receiver.count("_work")]).toEqual([0, 0]);
    expect(new Set(receiver.lines.map(({ level }) => level))).toEqual(new Set(["warn"]));
    await receiver.deliver(post(body));
    const log = JSON.stringify(receiver.lines);
    for (const hidden of [secret, sign(body), "occurredAt", "2026-03-01T00:00:00Z"])
      expect(log).not.toContain(hidden);
  });

  // Fault: webhook | one of the three headers comes twice | a raw socket | 400, even if both say the same, and nothing is stored
  test("a header that is there twice, even saying the same", async ({ receiver }) => {
    const good = post(body);
    for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"]) {
      const line = await receiver.dial(wire(good, [`${name}: ${good.headers[name]}`]));
      expect(await line.answers(1)).toEqual(["400"]);
    }
    expect(receiver.refused.map(({ reason }) => reason)).toEqual(Array(3).fill("repeated_header"));
    expect(receiver.count("_inbox")).toBe(0);
  });

  test("that is late counts as the service's own where it is signed and new, not where it is an old copy", async () => {
    const receiver = await aReceiver();
    const text = eventText();
    const late = { "webhook-timestamp": String(now() - 1_000) };
    const forgery = { ...late, "webhook-signature": "00".repeat(32) };
    for (const headers of [late, {}, late, forgery]) await receiver.deliver(post(text, headers));
    expect(receiver.results).toEqual(["acme 401", "acme stored", "acme 401", "acme 401"]);
    const reason = "stale_timestamp";
    expect(receiver.refused).toMatchObject([
      { reason, isGenuine: true, isCopy: false },
      { reason, isGenuine: false, isCopy: true },
      { reason, isGenuine: false, isCopy: false },
    ]);
  });

  // Fault: secrets | a company without a webhook secret | deliveries signed with any secret and with none | 401
  test("whose secret is not configured, whatever it is signed with", async () => {
    const receiver = await aReceiver({ keyring: keyringOf() });
    expect((await receiver.deliver()).status).toBe(401);
    expect((await receiver.deliver(forged(body, sign(body, "")))).status).toBe(401);
  });
});

describe("a valid delivery is accepted", () => {
  test("however much came before it: each answer gives its room back", async ({ shop: { ingest } }) => {
    const companies = { find: () => ingest, countAnswer: () => undefined };
    const receiver = new Receiver({ companies, clock: systemClock, log: silentLog });
    const { headers, body: text } = post(eventText({ resource: { note: "x".repeat(250_000) } }));
    const admitted = receiver.admit("acme", Object.entries(headers).flat()) as AdmittedDelivery;
    const large = Buffer.from(text);
    const statuses = new Set<number>();
    for (let sent = 0; sent < 65_000_000; sent += large.length) {
      const { promise, resolve } = Promise.withResolvers<Answer>();
      receiver.deliver(admitted, large, resolve);
      statuses.add((await promise).status);
    }
    expect(statuses).toEqual(new Set([204]));
  });

  // Fault: secrets | the secret's file changes a moment before a delivery | the keyring | the file is read again before a refusal
  test("by a secret that was written to its file a moment ago: the files are read again before a refusal", async () => {
    let secrets = ["old"];
    let refreshes = 0;
    const refresh = () => {
      refreshes += 1;
      secrets = ["new", "old"];
      return refreshes === 1;
    };
    const receiver = await aReceiver({ keyring: { accepted: () => secrets, refresh } });
    expect((await receiver.deliver(forged(body, sign(body, "new")))).status).toBe(204);
    expect((await receiver.deliver(forged(body, sign(body, "forged")))).status).toBe(401);
    expect(refreshes).toBe(2);
  });

  // Fault: webhook | signed deliveries that are unreadable or of an unknown type | requests to the receiver | 204, kept with their state, and nothing is read (I12)
  test("I12 signed but unreadable, or of a type nobody knows: kept byte for byte", async ({ receiver }) => {
    const [bytes, unknown] = [Buffer.from([0x1f, 0x8b, 0x08, 0x00, 0xff]), eventText({ type: "a.b" })];
    for (const one of [post("<html>"), post(bytes, { "content-encoding": "gzip" }), post(unknown)])
      expect((await receiver.deliver(one)).status).toBe(204);
    expect(rows(receiver.mirror, "SELECT state, body FROM _inbox ORDER BY seq")).toEqual([
      { state: "unreadable", body: "<html>" },
      { state: "unreadable", body: bytes },
      { state: "unknown", body: unknown },
    ]);
    expect(receiver.count("_work")).toBe(0);
    const fields = { company: "acme", type: "a.b", state: "unknown" };
    expect(receiver.lines.map(({ level }) => level)).toEqual(["warn", "warn", "warn"]);
    expect(receiver.lines.at(-1)).toMatchObject({ message: "an event was stored", fields });
  });
});

describe("a delivery that somebody recorded does no harm", () => {
  // Fault: webhook | a recorded delivery is sent again with a new timestamp | requests to the receiver | a duplicate: no read, no change (I7)
  test("I7 replayed with a fresh timestamp it is a duplicate: no read, no change", async ({ receiver }) => {
    const text = about(1, "people.deleted");
    const first = await receiver.deliver(post(text));
    expect([first.status, await first.text()]).toEqual([204, ""]);
    expect(first.headers.get("x-content-type-options")).toBe("nosniff");
    receiver.mirror.db.exec("DELETE FROM _work");
    for (const seconds of [0, 5, -5]) {
      const again = post(text, { "webhook-timestamp": String(now() + seconds) });
      expect((await receiver.deliver(again)).status).toBe(204);
    }
    expect([receiver.count("_inbox"), receiver.count("_work")]).toEqual([1, 0]);
    expect(receiver.results).toEqual(["acme stored", "acme known", "acme known", "acme known"]);
    const webhook_id = post(text).headers["webhook-id"];
    const fields = { company: "acme", webhook_id, type: "people.deleted", resource: "people", id: 1 };
    expect(receiver.lines[0]).toMatchObject({ level: "info", message: "an event was stored", fields });
    expect(receiver.lines.slice(1).map(({ level }) => level)).toEqual(["debug", "debug", "debug"]);
  });

  // Fault: webhook | a forged or replayed deletion | requests to the receiver | one question to the service, nothing removed (I5)
  test("I5 a deletion, even a true one, leads to one question and removes nothing", async ({ receiver }) => {
    expect((await receiver.deliver(post(about(1, "people.deleted")))).status).toBe(204);
    expect((await receiver.deliver(post(about(1, "people.deleted")))).status).toBe(204);
    const work = receiver.mirror.db.prepare("SELECT kind, target FROM _work").all();
    expect(work).toEqual([{ kind: "confirm", target: "id:1" }]);
    expect(receiver.count("_change_log")).toBe(0);
  });
});

// Fault: webhook | a flood of forged deliveries, for a day | requests to the receiver, a driven clock | a line of each kind in ten seconds, then more and more seldom, with how many there were
test("a flood of refusals is one line of each kind in ten seconds, then fewer, with how many there were", async () => {
  let nowMs = 0;
  const receiver = await aReceiver({ clock: { ...systemClock, monotonicMs: () => nowMs } });
  const flood = async () => {
    for (let i = 0; i < 20; i++) await receiver.deliver(forged());
  };
  await flood();
  expect(receiver.lines).toHaveLength(1);
  nowMs = 10_001;
  await flood();
  expect(receiver.lines).toHaveLength(2);
  expect(receiver.lines[1]).toMatchObject({ level: "warn", fields: { status: 401, unreported: 19 } });
  expect(receiver.results).toHaveLength(40);
  for (const end = nowMs + 86_400_000; nowMs < end; nowMs += 300_000) await receiver.deliver(forged());
  expect(receiver.lines.length).toBeLessThan(160);
  nowMs += 3_600_000;
  await flood();
  const linesBefore = receiver.lines.length;
  nowMs += 10_001;
  await flood();
  expect(receiver.lines).toHaveLength(linesBefore + 1);
});
