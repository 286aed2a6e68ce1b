import { expect, test } from "vitest";
import { aFleetReceiver, fleetOf, inboxOf } from "../../support/fleet/receiver.ts";
import { oneBody, refusals } from "../../support/webhook/invalid-deliveries.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { aReceiver, eventText, post, secret, sign } from "../../support/webhook/webhook.ts";

describeWithPostgres("hostile deliveries are answered as in serve", () => {
  // Fault: webhook | eighteen invalid deliveries, each wrong in one way | requests to a receiver of a fleet | the status codes of serve, and nothing is stored
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
    expect(answers).toEqual({ 400: 6, 401: 12 });
    expect(reasons).toEqual({
      missing_header: 3,
      stale_timestamp: 7,
      bad_signature: 5,
      wrong_id: 1,
      missing_id: 2,
    });
    const log = JSON.stringify(receiver.lines);
    for (const hidden of [secret, sign(oneBody), "occurredAt"]) expect(log).not.toContain(hidden);
  });

  // Fault: webhook | an event id with U+0000 or half of a surrogate pair, which no header can hold | the body of a signed delivery | 400 (`wrong_id`) from `serve` and fleet alike, and the delivery after it is stored
  test("an id that no header can hold is refused as a wrong one, before anything is stored", async () => {
    const fleet = await fleetOf("acme");
    const receivers = [await aFleetReceiver(fleet.postgres), await aReceiver()] as const;
    for (const id of ["evt\0", "\ud800evt"]) {
      const bad = post(eventText({ id }), { "webhook-id": "evt" });
      for (const answer of [receivers[0].deliver("acme", bad), receivers[1].deliver(bad)]) {
        expect((await answer).status).toBe(400);
        expect(await (await answer).text()).toContain("webhook-id is not the event's id");
      }
    }
    const good = post(eventText());
    expect((await receivers[0].deliver("acme", good)).status).toBe(204);
    expect((await receivers[1].deliver(good)).status).toBe(204);
    expect(await inboxOf(fleet, "acme")).toHaveLength(1);
    expect(receivers[0].companies.counts.refusals).toEqual({ wrong_id: 2 });
  });

  test("an old copy of a stored delivery is a copy, not one that the service sends", async () => {
    const fleet = await fleetOf("acme");
    const receiver = await aFleetReceiver(fleet.postgres);
    const text = eventText();
    const old = { "webhook-timestamp": String(Math.floor(Date.now() / 1000) - 1_000) };
    expect((await receiver.deliver("acme", post(text, old))).status).toBe(401);
    expect((await receiver.deliver("acme", post(text))).status).toBe(204);
    expect((await receiver.deliver("acme", post(text, old))).status).toBe(401);
    expect(receiver.companies.counts.refusals).toEqual({ stale_timestamp: 2 });
    expect(await inboxOf(fleet, "acme")).toHaveLength(1);
  });
});
