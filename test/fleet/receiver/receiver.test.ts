import { writeFileSync } from "node:fs";
import { expect, onTestFinished } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { MirrorError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/logger.ts";
import { signedForm } from "../../../src/webhook/ingest/delivery.ts";
import { startJobEngine } from "../../../src/fleet/jobs/job-engine.ts";
import type { Sql } from "../../../src/fleet/postgres/connection.ts";
import { openFleet, test } from "../../support/fleet/fleet.ts";
import { aFleetReceiver, documentOf, fleetOf, inboxOf } from "../../support/fleet/receiver.ts";
import { connectNode, describeWithPostgres } from "../../support/postgres/databases.ts";
import { tempFolder } from "../../support/temporary-folder.ts";
import { aReceiver, eventText, post, secret, sign } from "../../support/webhook/webhook.ts";
import { oneBody, refusals } from "../../support/webhook/invalid-deliveries.ts";

/** This version knows one connector, which documents do not name. */
function formOf(connector: string | null) {
  return connector === null
    ? Promise.resolve(signedForm)
    : Promise.reject(new MirrorError("config", "no such connector"));
}

/** As another company signs it. */
function signedBy(key: string, text = eventText()) {
  return post(text, { "webhook-signature": sign(text, key) });
}

describeWithPostgres("any node answers deliveries of any company", () => {
  test("I6 204 only after the delivery is committed, with the job that announces it", async () => {
    const fleet = await fleetOf("acme");
    const engine = await startJobEngine(fleet.postgres, silentLog, false);
    onTestFinished(() => engine.stop());
    const sendJob = (sql: Sql, company: string) => engine.send("events", [company], sql);
    const receiver = await aFleetReceiver(fleet.postgres, { sendJob });
    const other = await connectNode(fleet.url, "other");
    for (let i = 1; i <= 3; i++) {
      const text = eventText();
      expect((await receiver.deliver("acme", post(text))).status).toBe(204);
      const rows = await other.query("SELECT body FROM fintoro_mirror.inbox ORDER BY seq");
      expect([rows.length, rows.at(-1)]).toEqual([i, { body: Buffer.from(text) }]);
      expect(await other.query("SELECT FROM pgboss.job WHERE name = 'events'")).toHaveLength(1);
    }
    expect(await engine.fetch("events", 10)).toMatchObject([{ kind: "events", company: "acme" }]);
    expect(receiver.companies.counts.answers).toEqual({ stored: 3 });
    const fields = { company: "acme", type: "people.updated" };
    expect(receiver.lines[0]).toMatchObject({ level: "info", message: "an event was received", fields });
  });

  test("an owner looks for deliveries by itself: a job is sent where there is none, and none for a copy", async () => {
    const fleet = await fleetOf("acme");
    const sent: string[] = [];
    const sendJob = (_: Sql, company: string) => Promise.resolve(void sent.push(company));
    const receiver = await aFleetReceiver(fleet.postgres, { sendJob });
    await fleet.owned("acme");
    expect((await receiver.deliver("acme")).status).toBe(204);
    expect(sent).toEqual([]);
    await fleet.expire("acme");
    const event = post();
    for (let copies = 0; copies < 2; copies++)
      expect((await receiver.deliver("acme", event)).status).toBe(204);
    expect(sent).toEqual(["acme"]);
    expect(await inboxOf(fleet, "acme")).toHaveLength(2);
    expect(receiver.companies.counts.answers).toEqual({ stored: 2, known: 1 });
  });

  // Fault: fleet | the job of a delivery cannot be sent | the receiver's transaction | 503; the delivery is not stored (I6)
  test("I6 where the job cannot be sent, the delivery is not stored either", async () => {
    const fleet = await fleetOf("acme");
    const gone = new Error("no queue");
    const receiver = await aFleetReceiver(fleet.postgres, { sendJob: () => Promise.reject(gone) });
    expect((await receiver.deliver("acme")).status).toBe(503);
    expect(await inboxOf(fleet, "acme")).toEqual([]);
    expect(receiver.companies.counts.refusals).toEqual({ not_stored: 1 });
  });
});

describeWithPostgres("which companies are received is decided in Postgres", () => {
  test("one that joins, changes or leaves does so with the next look", async () => {
    const fleet = await fleetOf("acme");
    const env = { ACME_SECRET: secret, OTHER: "another-secret-of-acme" };
    const receiver = await aFleetReceiver(fleet.postgres, { env });
    const statusOf = async (company: string, key = secret) =>
      (await receiver.deliver(company, signedBy(key))).status;
    expect([await statusOf("acme"), await statusOf("beta")]).toEqual([204, 404]);
    await fleet.companies.put("beta", documentOf("beta", ["${env:ACME_SECRET}"]));
    await receiver.companies.refresh();
    expect([await statusOf("acme"), await statusOf("beta")]).toEqual([204, 204]);
    await fleet.companies.put("acme", documentOf("acme", ["${env:OTHER}"]));
    await fleet.companies.remove("beta");
    await receiver.companies.refresh();
    const changed = [await statusOf("acme"), await statusOf("acme", env.OTHER), await statusOf("beta")];
    expect(changed).toEqual([401, 204, 404]);
    expect(receiver.companies.count).toBe(1);
    await fleet.companies.put("beta", documentOf("beta", ["${env:ACME_SECRET}"]));
    await receiver.companies.refresh();
    expect(await statusOf("beta")).toBe(204);
  });

  test("one of a connector that only a newer version knows is named, its deliveries are to be sent again, and it concerns no other", async () => {
    const fleet = await openFleet();
    await fleet.companies.put("acme", { ...documentOf("acme"), connector: "newer" });
    await fleet.companies.put("beta", documentOf("beta", ["${env:ACME_SECRET}"]));
    const receiver = await aFleetReceiver(fleet.postgres, { formOf });
    for (let looks = 0; looks < 2; looks++) {
      await receiver.companies.refresh();
      expect((await receiver.deliver("acme")).status).toBe(503);
      expect((await receiver.deliver("beta")).status).toBe(204);
      const named = [{ company: "acme", problem: "no such connector" }];
      expect(receiver.companies.missingSecrets()).toEqual(named);
    }
    await fleet.companies.put("beta", { ...documentOf("beta"), connector: "newer" });
    await receiver.companies.refresh();
    expect((await receiver.deliver("beta")).status).toBe(503);
  });

  test("by itself within 15 s, and the time of receiving goes on meanwhile", async () => {
    const fleet = await fleetOf("acme");
    let slept: number[] = [];
    const wake: (() => void)[] = [];
    const sleep = (ms: number, signal?: AbortSignal) => {
      if (ms < 5_000) return systemClock.sleep(ms, signal);
      slept.push(ms);
      return new Promise<void>((resolve) => wake.push(resolve));
    };
    const clock = { ...systemClock, sleep };
    const receiver = await aFleetReceiver(fleet.postgres, { clock }, false);
    void receiver.companies.follow();
    await expect.poll(() => slept.length).toBe(1);
    expect(slept[0]).toBeLessThanOrEqual(15_000);
    expect(receiver.companies.count).toBe(1);
    const [first] = await fleet.receiving.spansSince(0);
    await fleet.companies.put("beta", documentOf("beta"));
    slept = [];
    wake.shift()?.();
    await expect.poll(() => slept.length).toBe(1);
    expect(receiver.companies.count).toBe(2);
    const spans = await fleet.receiving.spansSince(0);
    expect(spans).toHaveLength(1);
    expect(spans[0]?.seenMs).toBeGreaterThan(first?.seenMs ?? Infinity);
  });

  test("until they were read once, a delivery is to be sent again, and nothing is unknown, also where a connector failed to load", async () => {
    const fleet = await fleetOf("acme");
    let loads = 0;
    const failsOnce = () =>
      loads++ === 0 ? Promise.reject(new Error("EMFILE: too many open files")) : Promise.resolve(signedForm);
    const receiver = await aFleetReceiver(fleet.postgres, { formOf: failsOnce }, false);
    const early = await receiver.deliver("acme");
    expect([early.status, early.headers.get("retry-after")]).toEqual([503, "5"]);
    expect((await receiver.deliver("nobody")).status).toBe(503);
    await expect(receiver.companies.refresh()).rejects.toThrow("EMFILE");
    expect((await receiver.deliver("acme")).status).toBe(503);
    expect([receiver.companies.count, receiver.companies.problem]).toEqual([null, expect.any(String)]);
    await receiver.companies.refresh();
    expect((await receiver.deliver("acme")).status).toBe(204);
    expect((await receiver.deliver("nobody")).status).toBe(404);
    expect(receiver.companies.problem).toBeNull();
  });
});

describeWithPostgres("secrets are this node's own", () => {
  // Fault: secrets | a node lacks the webhook secret of one company | the environment of a receiver | 401 for that company, 204 for others; it is named
  test("a company whose secret is missing here is named, and concerns no other", async () => {
    const fleet = await fleetOf("acme", "beta");
    const receiver = await aFleetReceiver(fleet.postgres);
    expect((await receiver.deliver("acme")).status).toBe(204);
    expect((await receiver.deliver("beta")).status).toBe(401);
    const problem = "companies.beta.webhook.secrets[0]: the environment variable BETA_SECRET is not set";
    expect(receiver.companies.missingSecrets()).toEqual([{ company: "beta", problem }]);
    expect(receiver.companies.problem).toBeNull();
    await fleet.companies.remove("beta");
    await receiver.companies.refresh();
    expect(receiver.companies.missingSecrets()).toEqual([]);
  });

  // Fault: secrets | the file of a webhook secret appears and changes while a node receives | the files of a receiver | used with the next look
  test("a file that appears or changes later is used, without a start", async ({ fleet }) => {
    const file = `${tempFolder()}/acme`;
    await fleet.companies.put("acme", documentOf("acme", [`\${file:${file}}`]));
    const receiver = await aFleetReceiver(fleet.postgres);
    expect(receiver.companies.missingSecrets()).toMatchObject([{ company: "acme" }]);
    writeFileSync(file, "the-secret-in-the-file\n");
    await receiver.companies.refresh();
    expect(receiver.companies.missingSecrets()).toEqual([]);
    expect((await receiver.deliver("acme", signedBy("the-secret-in-the-file"))).status).toBe(204);
  });
});

describeWithPostgres("hostile deliveries are answered as in serve", () => {
  // Fault: webhook | ten invalid deliveries, each wrong in one way | requests to a receiver of a fleet | the status codes of serve, and nothing is stored
  // Fault: webhook | an event id with U+0000 or half of a surrogate pair, which no header can hold | the body of a signed delivery | 400 (`wrong_id`) from `serve` and fleet alike, and the delivery after it is stored
  test("each with the status that serve answers, counted by reason, and nothing of it is stored", async () => {
    const fleet = await fleetOf("acme");
    const receiver = await aFleetReceiver(fleet.postgres);
    const serve = await aReceiver();
    for (const [what, make, status] of refusals) {
      const [here, there] = [await receiver.deliver("acme", make()), await serve.deliver(make())];
      expect({ what, status: here.status }).toEqual({ what, status });
      expect([here.status, await here.text()]).toEqual([there.status, await there.text()]);
    }
    expect(await inboxOf(fleet, "acme")).toEqual([]);
    const { answers, refusals: reasons } = receiver.companies.counts;
    expect(answers).toEqual({ 400: 5, 401: 5 });
    const once = { missing_header: 1, missing_id: 1 };
    expect(reasons).toEqual({ ...once, wrong_id: 3, stale_timestamp: 3, bad_signature: 2 });
    const log = JSON.stringify(receiver.lines);
    for (const hidden of [secret, sign(oneBody), "occurredAt"]) expect(log).not.toContain(hidden);
    expect([(await receiver.deliver("acme")).status, (await serve.deliver()).status]).toEqual([204, 204]);
  });
});
