import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import type { AlertState } from "../../../src/status/alerts/incidents.ts";
import { jsonReply } from "../../support/company/proxy.ts";
import { eventually } from "../../support/eventually.ts";
import { aWorkedFleet, little, startNode } from "../../support/fleet/worker.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { openSink, type WebhookSink } from "../../support/sandbox/webhook-sink.ts";

/** A fleet whose company has alerts, and a token that is refused; nobody holds it yet. */
async function refusedCompany(sink: WebhookSink) {
  const fleet = await aWorkedFleet({ records: 3, windowMs: 2_000 });
  const recover = fleet.company.proxy.obstruct(() => jsonReply(401, { message: "Unauthenticated." }));
  const command = ["touch", `${fleet.company.folder}/started`];
  const alerts = [
    { when: ["failed"], url: sink.url },
    { when: ["failed"], command },
  ];
  await fleet.add("acme", { ...little, alerts, rate_limit: { window: "2s" } });
  const states = () => fleet.postgres.query<{ state: AlertState }>("SELECT state FROM fintoro_mirror.alerts");
  return { fleet, recover, states };
}

const sleep = (ms: number, signal?: AbortSignal) => systemClock.sleep(ms === 5_000 ? 200 : ms, signal);
/** A company is looked at five times a second, and not released meanwhile. */
const hasty = { times: { idleMs: 20_000, fullIdleMs: 20_000 }, clock: { ...systemClock, sleep } };
const idsAt = (sink: WebhookSink) => sink.received.map(({ json }) => String(json["id"]));

describeWithPostgres("alerts of a company of the fleet", () => {
  // Fault: process | a worker is stopped while a receiver of alerts is away | two nodes one after another, and a real receiver | the next owner sends the same alert, and its end; no second one begins
  test("go on with the next owner: one that was not taken is sent by it, with the same id, and so is its end", async () => {
    const sink = await openSink();
    const { fleet, recover, states } = await refusedCompany(sink);
    sink.treat(500);
    const one = await startNode(fleet, "one", hasty);
    await sink.arrived(1);
    await one.stop();
    // It would be sent again after a quarter of a minute.
    await fleet.postgres.query(`UPDATE fintoro_mirror.alerts
      SET state = jsonb_set(state, '{undelivered,0,retry_at}', 'null')`);
    const [noted] = await states();
    expect(noted?.state).toMatchObject({ undelivered: [{ attempts: 1, alert: { event: "begin" } }] });
    sink.treat(204);
    recover();
    await fleet.engine.send("run", ["acme"]);
    await startNode(fleet, "two", hasty);
    await sink.arrived(3);
    const [first = "", ...later] = idsAt(sink);
    expect(later).toEqual([first, first.replace(/begin$/, "end")]);
    const about = { company: "acme", kind: "failed", subject: "reading" };
    expect(sink.received.map(({ json }) => json)).toMatchObject([about, about, about]);
    await eventually(async () => (await states())[0]?.state.undelivered.length === 0, "all noted as taken");
    expect(`${fleet.company.folder}/started`).not.toSatisfy(existsSync);
  });

  // Fault: fleet | Postgres takes no note of an incident | the table of alerts | nothing is sent until it is noted
  test("are noted in Postgres before they are sent", async () => {
    const sink = await openSink();
    const { fleet, states } = await refusedCompany(sink);
    await fleet.postgres.query("ALTER TABLE fintoro_mirror.alerts ADD CHECK (company = '')");
    const node = await startNode(fleet, "one", hasty);
    const vain = () => node.said("acme").filter((text) => text === "incidents cannot be noted: alerts wait");
    await eventually(() => vain().length >= 2, "two vain notes");
    expect(sink.received).toEqual([]);
    await fleet.postgres.query("ALTER TABLE fintoro_mirror.alerts DROP CONSTRAINT alerts_company_check");
    await sink.arrived(1);
    expect((await states())[0]?.state.incidents).toMatchObject([{ kind: "failed", subject: "reading" }]);
  });
});
