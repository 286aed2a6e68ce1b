import { describe, expect, it } from "vitest";
import type { Fault } from "../../connectors/fintoro/sandbox/service/faults.ts";
import { asked, first, openLive, refusal, type Live } from "../support/http/live-client.ts";

/** Does the service have it? Asked past HTTP, its faults and its budget. */
const recordsOf = ({ sandbox }: Live, table: string) => [
  ...(sandbox.control.snapshot().get(table)?.values() ?? []),
];

const named = (live: Live, table: string, name: string) =>
  recordsOf(live, table).filter((record) => record["name"] === name);

const idempotencyKey = "objednavka-2026/11-20";

describe("the same key", () => {
  it("with the same input returns the first record again; with other input it is refused", async () => {
    const live = await openLive();
    const made = await live.client.clients.create({ name: "Prvý" }, { idempotencyKey });
    expect(await live.client.clients.create({ name: "Prvý" }, { idempotencyKey })).toEqual(made);
    expect(named(live, "clients", "Prvý")).toHaveLength(1);
    const error = await refusal(live.client.clients.create({ name: "Druhý" }, { idempotencyKey }));
    expect(error).toMatchObject({
      kind: "invalid",
      serviceMessage: expect.stringContaining("Idempotency-Key"),
      fields: {},
    });
    expect(named(live, "clients", "Druhý")).toEqual([]);
  });

  it("after a refusal may be used for the corrected input", async () => {
    const live = await openLive();
    const wrong = live.client.clients.create({ name: "Ján", countryId: 1 }, { idempotencyKey });
    expect(await refusal(wrong)).toMatchObject({ fields: { countryId: [expect.any(String)] } });
    await live.client.clients.create({ name: "Ján" }, { idempotencyKey });
    expect(named(live, "clients", "Ján")).toHaveLength(1);
  });
});

const lost: readonly [string, Fault][] = [
  ["before its first byte", { kind: "reset", when: "before" }],
  ["half way", { kind: "reset", when: "half" }],
  ["as 503", { kind: "status", status: 503 }],
];

/** The next request by this method suffers it. */
function strike({ sandbox }: Live, method: string, act: Fault, times = 1): void {
  sandbox.control.fault({ ...act, times, match: { method } });
}

describe("an answer to a creation is lost", () => {
  it.each(lost)("%s: it is asked again with its key, and there is one record", async (_, act) => {
    const live = await openLive();
    strike(live, "POST", act);
    const made = await live.client.clients.create({ name: "Stratený" });
    const { status = 0 } = act;
    expect(asked(live.sandbox)).toEqual([`POST /clients ${status}`, "POST /clients 201"]);
    expect(named(live, "clients", "Stratený").map(({ id }) => id)).toEqual([made.id]);
  });

  it("and the call was given up: it may be repeated later with the same key", async () => {
    const live = await openLive();
    strike(live, "POST", { kind: "hang", when: "headers" });
    const controller = new AbortController();
    const hanging = live.client.clients.create(
      { name: "Neskôr" },
      { idempotencyKey, signal: controller.signal },
    );
    await expect.poll(() => asked(live.sandbox, "POST")).toHaveLength(1);
    controller.abort();
    expect(await refusal(hanging)).toMatchObject({ kind: "stopped" });
    const made = await live.client.clients.create({ name: "Neskôr" }, { idempotencyKey });
    expect(named(live, "clients", "Neskôr").map(({ id }) => id)).toEqual([made.id]);
  });
});

/** Calls that the service takes no key for. */
const keyless: readonly [string, (live: Live, id: number) => Promise<unknown>][] = [
  ["PUT", ({ client }, id) => client.clients.update(id, { name: "Zmenený" })],
  ["DELETE", ({ client }, id) => client.clients.delete(id)],
  [
    "POST",
    ({ client }) => client.bankAccounts.create({ name: "x", iban: "SK3112000000198742637541", swift: "X" }),
  ],
];

it.each(keyless)("%s without a key is sent once, whether no answer came or 500", async (method, call) => {
  const live = await openLive();
  const { id } = first(await live.client.clients.list());
  strike(live, method, { kind: "reset", when: "before" });
  expect(await refusal(call(live, id))).toMatchObject({ kind: "network", status: null });
  expect(asked(live.sandbox, method)).toHaveLength(1);
  live.sandbox.control.clearFaults();
  strike(live, method, { kind: "status", status: 500 });
  const requestId = expect.stringMatching(/^req_/) as string;
  expect(await refusal(call(live, id))).toMatchObject({ kind: "unavailable", status: 500, requestId });
  expect(asked(live.sandbox, method)).toHaveLength(2);
});
