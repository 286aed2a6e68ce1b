import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { Receiver } from "../../src/webhook/receiver.ts";
import { about, deliveryOf, openIngest, post, recordingLog } from "../support/webhook/webhook.ts";

/** Receives these events in one turn of the event loop; gives what the log then holds of each level. */
async function logged(texts: readonly string[]) {
  const { ingest } = await openIngest();
  const lines: Parameters<typeof recordingLog>[0] = [];
  const companies = { find: () => ingest, countAnswer: () => undefined };
  const receiver = new Receiver({ companies, clock: systemClock, log: recordingLog(lines) });
  const answers = texts.map((text) => {
    const admission = receiver.admit("shop", Object.entries(post(text).headers).flat());
    if ("status" in admission) throw new Error(admission.why);
    return new Promise((done) => receiver.deliver(admission, Buffer.from(text), done));
  });
  await Promise.all(answers);
  const at = (wanted: string) => lines.filter(({ level }) => level === wanted);
  return { infos: at("info"), debugs: at("debug"), warnings: at("warn") };
}

test("a few events have a line each, with id, type and record", async () => {
  const text = about(7);
  const { infos } = await logged([text]);
  const fields = {
    company: "shop",
    webhook_id: deliveryOf(text).eventId,
    type: "people.updated",
    resource: "people",
    id: 7,
  };
  expect(infos).toMatchObject([{ message: "an event was stored", fields }]);
});

test("a burst is one line with how many there were, and each event at debug", async () => {
  const { infos, debugs } = await logged(Array.from({ length: 40 }, (_, id) => about(id)));
  expect(infos).toMatchObject([
    { message: "events were stored", fields: { events: 40, types: ["people.updated"] } },
  ]);
  expect(debugs).toHaveLength(40);
});

test("an event of an unknown type is a warning: it is kept, and nothing follows from it", async () => {
  const { infos, warnings } = await logged([about(7, "ghosts.created")]);
  expect(infos).toEqual([]);
  const fields = { company: "shop", type: "ghosts.created", state: "unknown" };
  expect(warnings).toMatchObject([{ fields }]);
});
