import { expect, onTestFinished, test } from "vitest";
import type { ServiceRequest, Transport } from "../../../src/connector/transport.ts";
import { aMirroredCompany } from "../../support/company/company.ts";
import { DrivenClock } from "../../support/virtual/driven-clock.ts";
import { truthOf } from "../../support/truth/truth.ts";
import { inboxOf, pass, startWorker } from "../../support/mirror/event-worker.ts";
import { eventually } from "../../support/eventually.ts";

/** Records the lane of each request; only events pass while the gate is shut. */
function gate() {
  const lanes: string[] = [];
  const waiting: (() => void)[] = [];
  let shut = false;
  const wrap = (transport: Transport): Transport => ({
    send: async (request: ServiceRequest) => {
      lanes.push(`${request.path} ${request.lane ?? ""}`);
      if (shut && request.lane !== "webhook") await new Promise<void>((resolve) => waiting.push(resolve));
      return transport.send(request);
    },
  });
  const open = () => {
    shut = false;
    for (const go of waiting.splice(0)) go();
  };
  return { lanes, wrap, waiting, shut: () => (shut = true), open };
}

test("an event's read uses the budget that is kept for events; its recheck waits for the budget and holds up no event", async () => {
  const company = await aMirroredCompany({ records: 20 });
  const clock = new DrivenClock();
  const { lanes, wrap, waiting, shut, open } = gate();
  const worker = await startWorker(company, { clock, wrap, concurrency: 4, resources: ["clients"] });
  // Before the event worker is stopped: waiting requests would hold it up.
  onTestFinished(open);
  worker.follow();
  const [late = 0, ...ids] = [...(truthOf(company.sandbox).get("clients")?.keys() ?? [])].map(Number);
  for (const id of ids) company.sandbox.control.alter("clients", id, { note: "first" }, { event: true });
  const done = () => inboxOf(worker.mirror).filter((row) => row.includes("done")).length;
  await eventually(() => done() === ids.length, "the events are done");
  expect(
    lanes.filter((line) => line.startsWith("/clients/")).every((line) => line.endsWith(" webhook")),
  ).toBe(true);
  shut();
  await clock.advance(61_000);
  await eventually(() => waiting.length === 2, "both wait");
  company.sandbox.control.alter("clients", late, { note: "in between" }, { event: true });
  await eventually(() => done() === ids.length + 1, "the late event is done");
  expect(waiting).toHaveLength(2);
  open();
  await pass(clock, worker, 30_000);
  const looks = lanes.filter((line) => line.endsWith(" list") && line.startsWith("/clients/"));
  expect(looks.toSorted()).toEqual(ids.map((id) => `/clients/${id} list`).toSorted());
});
