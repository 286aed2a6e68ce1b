import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import { openDatabase } from "../../src/store/database.ts";
import { signedForm } from "../../src/webhook/ingest/delivery.ts";
import { firstLine, startProgram } from "../support/program/cli.ts";
import { about, aReceiver, eventText, keyringOf, post, secret, test } from "../support/webhook/webhook.ts";

const lockProcess = fileURLToPath(new URL("../support/mirror/lock-process.ts", import.meta.url));

const big = () => post(eventText({ type: "x".repeat(100_000) }));
const take = () => {
  throw new TypeError("undefined is not a function");
};
const unwell = () => {
  throw new MirrorError("config", "no secret");
};

test("I6: another connection sees an event as soon as its 2xx is here, and the disk was waited for", async () => {
  const receiver = await aReceiver();
  const other = openDatabase(receiver.mirror.db.name, { readonly: true });
  for (let i = 1; i <= 5; i++) {
    expect((await receiver.deliver()).status).toBe(204);
    expect(other.prepare("SELECT count(*) FROM _inbox").pluck().get()).toBe(i);
  }
  other.close();
  expect(receiver.mirror.db.pragma("synchronous", { simple: true })).toBe(2);
});

describe("a database that fails costs a 503, and the service sends the event again", () => {
  // Fault: disk | another process holds the mirror's write lock | a process beside the receiver | 503 while it is held; the repeated delivery is stored once
  test("while another process writes; later it is taken, once", async ({ receiver }) => {
    const child = startProgram([receiver.mirror.db.name], { file: lockProcess, stdin: "pipe" });
    await firstLine(child);
    const events = [post(about(1)), post(about(1))];
    const busy = await Promise.all(events.map((event) => receiver.deliver(event)));
    expect(busy.map(({ status }) => status)).toEqual([503, 503]);
    expect(busy.map(({ headers }) => Number(headers.get("retry-after")))).toEqual([5, 5]);
    // The lock is held meanwhile: none of them waits for it.
    for (let i = 0; i < 5; i++) expect((await receiver.deliver(events[0])).status).toBe(503);
    child.stdin?.end();
    await once(child, "close");
    for (const event of events) expect((await receiver.deliver(event)).status).toBe(204);
    for (const event of events) expect((await receiver.deliver(event)).status).toBe(204);
    expect([receiver.count("_inbox"), receiver.count("_work")]).toEqual([2, 1]);
    const warned = receiver.lines.filter(({ level }) => level === "warn").map(({ message }) => message);
    expect(warned).toEqual(["events cannot be stored", "a delivery was refused"]);
  });

  // Fault: disk | the disk is full while deliveries arrive | a page limit on the mirror's file | 503; taken when there is room again
  test("while the disk is full", async ({ receiver }) => {
    const { db } = receiver.mirror;
    const pages = Number(db.pragma("page_count", { simple: true }));
    db.pragma(`max_page_count = ${pages}`);
    const statuses = new Set<number>();
    for (let i = 0; i < 20; i++) statuses.add((await receiver.deliver(big())).status);
    expect(statuses).toContain(503);
    db.pragma("max_page_count = 1000000");
    expect((await receiver.deliver(big())).status).toBe(204);
  });

  // Fault: webhook | a delivery while the mirror is closed | the receiver without an open mirror | 503 with Retry-After; taken when it is open
  test("while the mirror is closed, and after it was opened anew", async ({ receiver }) => {
    receiver.put("unavailable");
    const closed = await receiver.deliver();
    expect([closed.status, closed.headers.get("retry-after")]).toEqual([503, "5"]);
    receiver.put(receiver.ingest);
    expect((await receiver.deliver()).status).toBe(204);
    receiver.mirror.close();
    expect((await receiver.deliver()).status).toBe(503);
    const other = await aReceiver();
    receiver.put(other.ingest);
    expect((await receiver.deliver()).status).toBe(204);
  });

  // Fault: webhook | one event of a group cannot be stored | a trigger in the inbox | 503 for that one, 204 for the others
  test("one event that cannot be stored refuses no other of its group", async ({ receiver }) => {
    receiver.mirror.db.exec(
      `CREATE TRIGGER broken BEFORE INSERT ON _inbox WHEN NEW.event_id LIKE 'bad%' BEGIN SELECT RAISE(ABORT, 'no'); END`,
    );
    const ids = ["good-1", "bad-1", "good-2", "bad-2", "good-3"];
    const answers = await Promise.all(ids.map((id) => receiver.deliver(post(eventText({ id })))));
    expect(answers.map(({ status }) => status)).toEqual([204, 503, 204, 503, 204]);
    expect(receiver.count("_inbox")).toBe(3);
  });

  // Fault: webhook | an unforeseen error while an event is stored | the receiver's store function | 503, and the server goes on
  test("an error that is no database's is a 503 as well, and the server goes on", async ({ receiver }) => {
    const failing = { form: signedForm, has: () => false, store: take };
    receiver.put({ ...failing, keyring: keyringOf(secret) });
    expect((await receiver.deliver()).status).toBe(503);
    receiver.put({ ...failing, keyring: { accepted: unwell, refresh: () => false } });
    expect((await receiver.deliver()).status).toBe(503);
    receiver.put(receiver.ingest);
    expect((await receiver.deliver()).status).toBe(204);
  });
});
