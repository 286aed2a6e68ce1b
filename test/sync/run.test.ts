import { getEventListeners } from "node:events";
import { expect, describe } from "vitest";
import { dayMs, hourMs } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/logger.ts";
import { seededRandom } from "../support/seeded-random.ts";
import type { Transport } from "../../src/connector/transport.ts";
import { WorkQueue } from "../../src/state/work-queue.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { resourceOf, openShop } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { listed, order, person } from "../support/mirror/shop-records.ts";
import { work } from "../support/mirror/state-rows.ts";
import { notFound } from "../support/errors.ts";
import { startMs, put, remove, written } from "../support/mirror/store.ts";
import { stillClock } from "../support/mirror/run.ts";
import { answerOf, runOnce } from "../support/mirror/whole-run.ts";
import { recordingLog } from "../support/terminal/terminal.ts";
import { isWholeRun, isWorthPublishing, listedOutcome } from "../../src/sync/context/run-summary.ts";
import { UnauthenticatedError, UnavailableError } from "../../src/connector/service-errors.ts";
import { Tally } from "../../src/sync/context/tally.ts";
import { listAgeMs } from "../../src/sync/plan/initial-work.ts";
import { lastFailedStart } from "../../src/sync/run/begin-run.ts";
import { identify, judgeToken } from "../../src/sync/identity/identify.ts";
import { fingerprintOf, rememberIdentity, type PinnedIdentity } from "../../src/state/meta.ts";

function service(name: string, colours: readonly object[], onColours = () => 0): Transport {
  return {
    send: async (request) => {
      request.onSent?.();
      if (request.path === "/colours") onColours();
      return answerOf(request.path === "/shop" ? { name } : { data: colours });
    },
  };
}

type Parts = Parameters<typeof runOnce>;

/** A run over this service, which reads colours one by one. */
function run(
  mirror: Mirror,
  transport: Transport,
  parts: Partial<Parts[0]> = {},
  asked: Partial<Parts[1]> = {},
) {
  const own = { mirror, queue: new WorkQueue(mirror.db), transport, clock: stillClock, log: silentLog };
  const resources = [resourceOf("colours"), resourceOf("shop")];
  const given = { ...own, random: seededRandom(1), token: "token", ...parts };
  return runOnce(given, { resources, concurrency: 1, ...asked });
}

const red = { id: 1, label: "red" };

// Fault: process | thousands of runs in one process | the signals that end them all | none listens to them any more when it is over, so none is kept in memory
test("a run leaves nothing on the signals that outlive it, however it ends", async ({ mirror }) => {
  const fails: Transport = { send: () => Promise.reject(new Error("a bug")) };
  for (const transport of [service("Acme", [red]), fails]) {
    const [signal, closed] = [new AbortController().signal, new AbortController().signal];
    await run(mirror, transport, {}, { signal, closed }).catch(() => null);
    const left = [signal, closed].flatMap((one) => getEventListeners(one, "abort"));
    expect(left).toEqual([]);
  }
});

test("what is noticed is logged once in a run, and in the report of that run alone", async () => {
  const { log, records } = recordingLog();
  const mirror = await openShop({ log });
  const missing: unknown[] = [];
  const unlabelled = { id: 1 };
  for (const colour of [unlabelled, red, unlabelled])
    missing.push((await run(mirror, service("Acme", [colour, { id: 2, label: "blue" }]))).missing_fields);
  expect(missing).toEqual([["colours.label"], [], ["colours.label"]]);
  expect(records().filter(({ msg }) => String(msg).endsWith("colours.label"))).toHaveLength(2);
});

// Fault: identity | a token of another company | the config's token, over a filled mirror | refused before anything is written (I10)
test("I10: another company's token is refused before any write, unless overridden", async ({ mirror }) => {
  await run(mirror, service("Acme", [red]));
  const before = written(mirror);
  const stranger = service("Globex", [{ id: 2, label: "blue" }]);
  const report = await run(mirror, stranger, { token: "other" });
  expect(report).toMatchObject({ outcome: "identity", error: { kind: "identity" } });
  expect(written(mirror)).toBe(before);
  // What a run that was stopped has read is of the company before.
  mirror.db.exec("UPDATE _runs SET outcome = 'stopped', report = '{}'");
  const insisted = await run(mirror, stranger, { token: "other" }, { acceptIdentity: true });
  expect(insisted).toMatchObject({ outcome: "complete", resumed: false });
  expect(mirror.records.liveIds("colours")).toEqual([2]);
});

test.for(["_work", "_runs"])(
  "a database whose %s fails between two answers ends the run with its file's name",
  async (table, { mirror }) => {
    let looks = 0;
    const transport = service("Acme", [red], () => (looks = 1));
    // After the list came, the clock is looked at for the answer, and then for the next row of the queue.
    const nowMs = () => {
      if (looks > 0 && ++looks === 3) mirror.db.exec(`DROP TABLE ${table}`);
      return startMs;
    };
    const report = await run(mirror, transport, { clock: { ...stillClock, nowMs } });
    const error = { kind: "database", message: `no such table: ${table}: ${mirror.db.name}` };
    expect(report).toMatchObject({ outcome: "database", error });
  },
);

test("I5: a run that continues another one reads a list again of which that one held deletions", async ({
  mirror,
}) => {
  const many = Array.from({ length: 30 }, (_, i) => ({ id: i + 1, label: "red" }));
  await run(mirror, service("Acme", many));
  const few = service("Acme", [red]);
  const held = { outcome: "partial", troubles: [{ resource: "colours", kind: "held" }] };
  // As if it was killed before its end.
  mirror.db.exec(
    "CREATE TEMP TRIGGER killed BEFORE UPDATE OF outcome ON _runs BEGIN SELECT RAISE(IGNORE); END",
  );
  expect(await run(mirror, few)).toMatchObject(held);
  mirror.db.exec("DROP TRIGGER killed");
  expect(await run(mirror, few)).toMatchObject({ ...held, resumed: true });
  expect(await run(mirror, few, {}, { continues: true })).toMatchObject({ ...held, resumed: true });
  await run(mirror, few, {}, { continues: true, allowMassDelete: true });
  expect(mirror.records.counts("colours").live).toBe(1);
});

const clockAt = (nowMs: number) => ({ clock: { ...stillClock, nowMs: () => nowMs } });

test("a run that begins, a quick one too, ends what one left that could not, whatever the clock says", async ({
  mirror,
}) => {
  const refuses: Transport = { send: () => Promise.reject(new UnauthenticatedError("401")) };
  await run(mirror, service("Acme", [red]));
  await run(mirror, refuses, clockAt(startMs + dayMs), { quick: true });
  expect(lastFailedStart(mirror.meta)).toMatchObject({ outcome: "unauthenticated" });
  await run(mirror, service("Acme", [red]), clockAt(startMs + hourMs), { quick: true });
  expect(lastFailedStart(mirror.meta)).toBeNull();
});

test("a run that lasts days reads its lists again 20 hours after they began, in turn with details", async ({
  mirror,
}) => {
  let nowMs = startMs;
  const asked: string[] = [];
  const shown = [1, 2, 3].map((id) => listed(id));
  const paginator = { currentPage: 1, perPage: 3, totalResults: 3, totalPages: 1 };
  const send: Transport["send"] = async (request) => {
    const [, path = "", id] = request.path.split("/");
    if (path !== "shop") asked.push(request.path);
    if (path !== "orders") return service("Acme", [red]).send(request);
    request.onSent?.();
    if (id === undefined) return answerOf({ data: shown, paginator });
    if (id === "3") nowMs += listAgeMs;
    return answerOf(order(Number(id)));
  };
  const clock = { ...stillClock, nowMs: () => nowMs, monotonicMs: () => nowMs };
  const resources = ["shop", "colours", "orders"].map(resourceOf);
  await run(mirror, { send }, { clock }, { resources });
  const again = ["/orders/3", "/orders/2", "/colours", "/orders/1", "/orders"];
  expect(asked).toEqual(["/colours", "/orders", ...again]);
});

const at = "2026-11-22T02:20:00.000Z";
const scrub = { total: 9, planned: 5, read: 5, changed: 0, left: 0 };

const whole = (outcome: string | null, listedAt?: string | null) =>
  isWholeRun({ outcome, ...(listedAt !== undefined && { listed_at: listedAt }) });

test("a run is whole once everything listed is in, whatever cut off its scrub", () => {
  const isWhole = [whole("complete"), whole("partial", at), whole("stopped", at), whole(null, at)];
  expect(isWhole).toEqual(Array(4).fill(true));
  expect([whole("stopped", null), whole("failed"), whole(null)]).toEqual(Array(3).fill(false));
});

test("a scrub that was cut off leaves the outcome of the rest", () => {
  const trouble = { resource: "orders", kind: "dead", message: "id:1 was refused" } as const;
  expect(listedOutcome({ outcome: "stopped", listed_at: at, troubles: [] })).toBe("complete");
  expect(listedOutcome({ outcome: "failed", listed_at: at, troubles: [trouble] })).toBe("partial");
  expect(listedOutcome({ outcome: "stopped", listed_at: null, troubles: [] })).toBe("stopped");
});

test.each([
  ["complete", true, {}],
  ["partial", true, {}],
  ["complete", true, { scrub: { ...scrub, planned: 0 } }],
  ["complete", false, { scrub }],
  ["complete", true, { scrub: { ...scrub, changed: 2 } }],
  ["stopped", true, { scrub: { ...scrub, changed: 2 } }],
  ["stopped", true, { listed_at: null }],
  ["interrupted", false, { scrub: { ...scrub, changed: 2 } }],
  ["failed", false, { listed_at: null }],
] as const)(
  "reports and exports follow a run or a cut off night, unless its scrub found nothing: %s %s %j",
  (outcome, isWorth, more) => {
    expect(isWorthPublishing({ outcome, listed_at: at, scrub: null, ...more })).toBe(isWorth);
  },
);

const pinned: PinnedIdentity = {
  name: "Acme",
  salt: "salt",
  fingerprint: fingerprintOf("token", "salt"),
  businessId: "12345678",
};

async function mirrorOf(orders: readonly number[], people: readonly number[] = []): Promise<Mirror> {
  const mirror = await openShop();
  mirror.apply(() => rememberIdentity(mirror, pinned));
  for (const id of people) put(mirror, "people", person(id));
  for (const id of orders) put(mirror, "orders", orderOf(id));
  return mirror;
}

const orderOf = (id: number, number = `2026-${id}`) => order(id, { number });

type Records = Readonly<Record<string, object | Error>>;

/** Judges a token by a service with these records by path. */
async function judge(mirror: Mirror, name: string, token: string, records: Records = {}) {
  const asked: string[] = [];
  const verdict = await judgeToken(mirror, { name, token }, async (path) => {
    asked.push(path);
    const record = records[path] ?? notFound("No query results for model.");
    if (record instanceof Error) throw record;
    return Buffer.from(JSON.stringify(record));
  });
  return { verdict, kind: verdict.kind, asked };
}

describe("I10: a mirror belongs to one company", () => {
  test.each([
    ["same token, same name", "Acme", "token", "same"],
    ["same token, other name: a rename", "Acme Group", "token", "renamed"],
    ["same token, no name: a rename too", "", "token", "renamed"],
    ["both other", "Globex", "new", "refused"],
    ["other token, the name in other letters", "ACME", "new", "refused"],
  ] as const)("%s: %s with %s is judged without a request", async (_case, name, token, kind) => {
    const judged = await judge(await mirrorOf([1]), name, token, { "/orders/1": orderOf(1) });
    expect(judged).toMatchObject({ kind, asked: [] });
  });

  test("another token of the same name needs one document with the same stable value", async () => {
    const mirror = await mirrorOf([1, 2, 3, 4, 5], [7]);
    const found = await judge(mirror, "Acme", "new", { "/orders/1": orderOf(1) });
    expect(found).toMatchObject({ kind: "rotated", asked: ["/orders/5", "/orders/1"] });
    expect(found.verdict).toMatchObject({ why: expect.stringContaining('order 1 (number "2026-1")') });
  });

  // Fault: identity | a sandbox company's token: the same name, business id and ids | the config's token, over a filled mirror | refused (I10)
  test("a sandbox company with the same name and ids but other documents is refused", async () => {
    const others = Object.fromEntries([1, 2, 3].map((id) => [`/orders/${id}`, orderOf(id, `T-${id}`)]));
    const { verdict, asked } = await judge(await mirrorOf([1, 2, 3], [7]), "Acme", "new", others);
    expect(asked).toHaveLength(3);
    const error = verdict.kind === "refused" ? verdict.error : null;
    expect(error).toMatchObject({ kind: "identity", retryable: false });
    expect(error?.message).toContain('order 3 (number "2026-3") has number "T-3" at the service');
    expect(error?.hint).toContain("Nothing was written");
    expect(error?.hint).toContain("--accept-identity");
  });

  test("three documents that are not there are a refusal; a fourth is not asked for", async () => {
    const { kind, asked, verdict } = await judge(await mirrorOf([1, 2, 3, 4]), "Acme", "new", {
      "/orders/3": orderOf(3),
    });
    expect({ kind, asked: asked.length }).toEqual({ kind: "refused", asked: 3 });
    expect(verdict).toMatchObject({ error: { message: expect.stringContaining("answers 404") } });
  });

  test.each([
    ["a service in trouble", new UnavailableError("503", { status: 503 })],
    ["a 404 that is not the service's own", notFound(null)],
  ])("%s is no refusal", async (_case, error) => {
    const mirror = await mirrorOf([1]);
    await expect(judge(mirror, "Acme", "new", { "/orders/1": error })).rejects.toBe(error);
  });

  test("without documents, clients prove it by id and name", async () => {
    const mirror = await mirrorOf([], [7]);
    const same = await judge(mirror, "Acme", "new", { "/people/7": { id: 7, name: "n7" } });
    expect(same).toMatchObject({ kind: "rotated", asked: ["/people/7"] });
    const other = await judge(mirror, "Acme", "new", { "/people/7": { id: 7, name: "Nobody" } });
    expect(other.kind).toBe("refused");
  });

  test("with neither, it is refused without a request, also where the mirror is empty", async () => {
    const mirror = await mirrorOf([]);
    expect(await judge(mirror, "Acme", "new")).toMatchObject({ kind: "refused", asked: [] });
    put(mirror, "receipts", { id: 5, documentType: null, documentId: null, amount: 1 });
    expect(await judge(mirror, "Acme", "new")).toMatchObject({ kind: "refused", asked: [] });
  });

  test("a deleted document is not asked for, and one in doubt only after the others", async () => {
    const mirror = await mirrorOf([1, 2, 3]);
    remove(mirror, "orders", 3);
    const doubt = { kind: "confirm", resource: "orders", target: "id:2", reason: "absent" } as const;
    mirror.apply(() => new WorkQueue(mirror.db).add(work(doubt)));
    const { asked } = await judge(mirror, "Acme", "new");
    expect(asked).toEqual(["/orders/1", "/orders/2"]);
  });

  test("a token that was replaced changes the fingerprint, and keeps the company's salt and business id", async () => {
    const mirror = await mirrorOf([1]);
    const answers: Record<string, object> = { "/shop": { name: "Acme" }, "/orders/1": orderOf(1) };
    const transport: Transport = { send: async ({ path }) => answerOf(answers[path]) };
    const random = seededRandom(1);
    const parts = { mirror, transport, tally: new Tally(), token: "new", random, log: silentLog };
    const { signal } = new AbortController();
    const found = await identify(parts, { acceptIdentity: false, lane: "list", signal });
    expect(found.changed).toBe(true);
    expect(found.identity).toEqual({ ...pinned, fingerprint: fingerprintOf("new", "salt") });
  });

  test("I9: the token is stored as a salted fingerprint that neither shows it nor matches without the salt", () => {
    expect(JSON.stringify(pinned)).not.toContain("token");
    expect(fingerprintOf("token", "other")).not.toBe(pinned.fingerprint);
    expect(fingerprintOf("token", "salt")).toMatch(/^[0-9a-f]{64}$/);
  });
});
