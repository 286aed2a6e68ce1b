import { expect, test } from "vitest";
import type { LogFields } from "../../src/base/logger.ts";
import type { Delivery } from "../../src/state/inbox/inbox.ts";
import { createCommitter } from "../../src/webhook/server/delivery-commit.ts";
import { systemClock } from "../../src/base/clock.ts";
import { about, aStation, deliveryOf } from "../support/webhook.ts";

/** Deliveries of one turn of the event loop, and what the log then holds at `info`. */
async function told(deliveries: readonly Delivery[]) {
  const { mailbox } = await aStation();
  const infos: { message: string; fields: LogFields }[] = [];
  const debugs: string[] = [];
  const warnings: LogFields[] = [];
  const log = {
    debug: (message: string) => void debugs.push(message),
    info: (message: string, fields: LogFields = {}) => void infos.push({ message, fields }),
    warn: (_message: string, fields: LogFields = {}) => void warnings.push(fields),
    error: () => undefined,
  };
  const commit = createCommitter({ clock: systemClock, log, onStored: () => undefined });
  await Promise.all(
    deliveries.map((delivery) => new Promise((done) => commit("shop", mailbox, delivery, 100, done))),
  );
  return { infos, debugs, warnings };
}

test("a few events are told one by one, with id, type and record", async () => {
  const delivery = deliveryOf(about(7));
  const { infos } = await told([delivery]);
  const fields = {
    company: "shop",
    webhook_id: delivery.eventId,
    type: "people.updated",
    resource: "people",
    id: 7,
  };
  expect(infos).toMatchObject([{ message: "an event was stored", fields }]);
});

test("a burst is one line with how many there were, and each event at debug", async () => {
  const { infos, debugs } = await told(Array.from({ length: 40 }, (_, id) => deliveryOf(about(id))));
  expect(infos).toMatchObject([
    { message: "events were stored", fields: { events: 40, types: ["people.updated"] } },
  ]);
  expect(debugs).toHaveLength(40);
});

test("an event of a type that nobody knows is a warning: it is kept, and nothing follows from it", async () => {
  const { infos, warnings } = await told([deliveryOf(about(7, "ghosts.created"))]);
  expect(infos).toEqual([]);
  expect(warnings).toMatchObject([{ company: "shop", type: "ghosts.created", state: "unknown" }]);
});
