import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { Daemon } from "../../src/daemon/daemon.ts";
import { takeWriterLock } from "../../src/store/lock.ts";
import { Orders } from "../../src/store/orders.ts";
import { openDatabase } from "../../src/store/sqlite.ts";
import { readDelivery, type Delivery } from "../../src/webhook/delivery.ts";
import { aCompany, type Company } from "../support/company.ts";
import { age, configOf, impatientClock, startDaemon } from "../support/daemon.ts";
import { expectEqual } from "../support/equal.ts";
import { eventAbout, eventually, inMirror, wholeRuns } from "../support/serve.ts";

const hourMs = 3_600_000;

function stateOf(daemon: Daemon) {
  return daemon.views()[0];
}

async function untilWorking(daemon: Daemon): Promise<void> {
  await eventually(() => stateOf(daemon)?.service.state === "working", "a service that answers");
}

/** A mirror that a daemon has made, received for, and left in order. */
async function leftInOrder(): Promise<Company> {
  const company = await aCompany({ records: 3 });
  const daemon = startDaemon(company, configOf(company));
  await eventually(() => wholeRuns(company) === 1, "a whole run");
  await daemon.stop();
  return company;
}

describe("a station that begins", () => {
  test("makes no run after a short pause, and one after a pause that may have cost events", async () => {
    const company = await leftInOrder();
    const config = configOf(company);
    const short = startDaemon(company, config);
    await untilWorking(short);
    await short.stop();
    expect(inMirror(company, "SELECT count(*) FROM _runs")).toBe(1);
    age(company, 6 * hourMs);
    company.sandbox.control.create("clients", { name: "Nobody was told" });
    const long = startDaemon(company, config);
    await eventually(() => wholeRuns(company) === 2, "a run because of the gap");
    expect(company.said.join("\n")).toContain("events may have been lost");
    await long.stop();
    expectEqual(company);
    const again = startDaemon(company, config);
    await untilWorking(again);
    await again.stop();
    expect(inMirror(company, "SELECT count(*) FROM _runs")).toBe(2);
  });

  test("drops orders of processes that are gone", async () => {
    const company = await leftInOrder();
    const db = openDatabase(company.file);
    const orders = new Orders(db);
    orders.add("sync", { resources: ["clients"] }, { atMs: Date.now(), pid: 2 ** 22 + 1 });
    const daemon = startDaemon(company, configOf(company));
    await untilWorking(daemon);
    expect(orders.open()).toEqual([]);
    db.close();
    await daemon.stop();
  });
});

describe("what follows a run", () => {
  test("is called with its report, in order, whoever asked for the run; one that fails harms nothing", async () => {
    const company = await aCompany({ records: 3 });
    const story: string[] = [];
    const daemon = startDaemon(company, configOf(company), {
      afterRun: [
        async ({ company: { name }, report }) => void story.push(`${name} ${report.outcome}`),
        () => Promise.reject(new Error("no room for a report")),
        async () => void story.push("never reached"),
      ],
    });
    await eventually(() => company.said.join("\n").includes("no room for a report"), "the failure told");
    expect(story).toEqual(["acme complete"]);
    expect(stateOf(daemon)).toMatchObject({
      open: true,
      runs: { complete: 1 },
      lastRun: { outcome: "complete" },
    });
    await daemon.stop();
  });
});

describe("a station whose file is not at hand", () => {
  test("waits for who holds the lock, says so, and takes no deliveries meanwhile", async () => {
    const company = await leftInOrder();
    const lock = takeWriterLock(path.join(company.folder, "acme.lock"), "sync");
    const daemon = startDaemon(company, configOf(company), { clock: impatientClock });
    await eventually(() => stateOf(daemon)?.service.message?.includes("(sync") === true, "the holder's name");
    expect(stateOf(daemon)).toMatchObject({ open: false, service: { state: "database" } });
    expect(daemon.mailbox("acme")).toBe("closed");
    lock.release();
    await eventually(() => stateOf(daemon)?.open === true, "an open mirror");
    expect(daemon.mailbox("acme")).not.toBe("closed");
    await daemon.stop();
  });

  test("tries again until a file that is none is one", async () => {
    const company = await aCompany({ records: 3 });
    writeFileSync(company.file, "this is no database, and long enough to be sure of that");
    const daemon = startDaemon(company, configOf(company), { clock: impatientClock });
    await eventually(() => stateOf(daemon)?.service.message?.includes("not a SQLite") === true, "why");
    expect(daemon.mailbox("acme")).toBe("closed");
    rmSync(company.file);
    await eventually(() => wholeRuns(company) === 1, "a whole run");
    await daemon.stop();
    expectEqual(company);
  });
});

describe("a change of the config", () => {
  test("takes effect without losing what is stored; a company that is gone is left in order", async () => {
    const company = await leftInOrder();
    const daemon = startDaemon(company, configOf(company));
    await untilWorking(daemon);
    daemon.apply(configOf(company, "resources: { exclude: [orders] }"));
    const opened = () => company.said.filter((line) => line.includes("the mirror is open")).length;
    await eventually(() => opened() === 3, "the mirror opened anew");
    const mailbox = daemon.mailbox("acme");
    if (mailbox === null || mailbox === "closed") throw new Error("it should be open");
    const receipts = mailbox.take([deliveryOf("orders.updated", "order")], Date.now());
    expect(receipts).toMatchObject([{ fate: "stored", state: "excluded" }]);
    const elsewhere = [{ name: "other", token: company.sandbox.token }];
    daemon.apply(configOf(company, "", elsewhere));
    expect(daemon.mailbox("acme")).toBeNull();
    await eventually(
      () => inMirror(company, "SELECT max(ended) FROM _receiver WHERE ended IS NULL") === null,
      "an end",
    );
    await daemon.stop();
    expect(inMirror(company, "SELECT count(*) FROM _receiver WHERE ended IS NULL")).toBe(0);
  });
});

function deliveryOf(type: string, resourceType: string): Delivery {
  const event = eventAbout(type, resourceType, 1);
  const read = readDelivery(Buffer.from(JSON.stringify(event)), event.id);
  if (!("eventId" in read)) throw new Error("not a delivery");
  return read;
}
