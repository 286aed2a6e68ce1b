import { describe, expect, test } from "vitest";
import { hourMs, minuteMs } from "../../src/base/clock.ts";
import {
  afterAttempt,
  decideAlerts,
  dueAlerts,
  everySubject,
  noIncidents,
  type AlertFacts,
  type AlertState,
  type Condition,
} from "../../src/status/alerts/incidents.ts";
import { seededRandom } from "../support/seeded-random.ts";

const startMs = Date.UTC(2026, 10, 22, 3);
const mail = { key: "mail", when: ["failed", "stale"] } as const;
const chat = { key: "chat", when: ["failed"] } as const;

function condition(facts: Partial<Condition> = {}): Condition {
  const failed = { kind: "failed", subject: "reading", message: "the service is away" } as const;
  return { ...failed, raises: true, blocks: true, ...facts };
}

/** Looks at a company again and again; every alert is taken at once. */
function watch(targets: AlertFacts["targets"] = [mail]) {
  let state: AlertState = noIncidents;
  let ids = 0;
  const sent: string[] = [];
  const look = (afterMs: number, conditions: readonly Condition[], to = targets) => {
    const nowMs = startMs + afterMs;
    const facts = { company: "acme", conditions, targets: to, nowMs, newId: () => `i${++ids}` };
    // As if each look were after a restart: nothing but the state is carried over.
    state = decideAlerts(JSON.parse(JSON.stringify(state)) as AlertState, facts);
    const before = sent.length;
    for (let due = dueAlerts(state, nowMs); due.length > 0; due = dueAlerts(state, nowMs))
      for (const one of due) {
        sent.push(`${one.target} ${one.alert.event} ${one.alert.kind} ${one.alert.id.split("-")[0]}`);
        state = afterAttempt(state, one, null, nowMs);
      }
    return sent.slice(before);
  };
  return { look, sent, state: () => state };
}

describe("an incident", () => {
  test("is sent once when it begins and once when it ends, across restarts", () => {
    const { look } = watch();
    expect(look(0, [])).toEqual([]);
    expect(look(1, [condition()])).toEqual(["mail begin failed i1"]);
    expect(look(2, [condition()])).toEqual([]);
    expect(look(hourMs, [condition({ message: "still away" })])).toEqual([]);
    expect(look(2 * hourMs, [])).toEqual(["mail end failed i1"]);
    expect(look(3 * hourMs, [])).toEqual([]);
  });

  test("goes only to targets that ask for its kind", () => {
    const { look } = watch([mail, chat]);
    const stale = condition({ kind: "stale", subject: "lists" });
    expect(look(0, [condition(), stale])).toEqual([
      "mail begin failed i1",
      "chat begin failed i1",
      "mail begin stale i2",
    ]);
    expect(look(1, [])).toEqual(["mail end failed i1", "chat end failed i1", "mail end stale i2"]);
  });

  test("is one for all conditions of its kind and subject, and says them all", () => {
    const { look, state } = watch();
    look(0, [condition({ message: "one" }), condition({ message: "two" })]);
    expect(state().incidents).toMatchObject([{ message: "one; two" }]);
  });

  test("goes also to a target that came later, and its end to no target that did not get its beginning", () => {
    const { look } = watch([chat]);
    expect(look(0, [condition()])).toEqual(["chat begin failed i1"]);
    expect(look(1, [condition()], [chat, mail])).toEqual(["mail begin failed i1"]);
    const deaf = { key: "mail", when: ["stale"] } as const;
    expect(look(2, [], [chat, deaf, { key: "new", when: ["failed"] }])).toEqual([
      "chat end failed i1",
      "mail end failed i1",
    ]);
  });

  test("stays as it is where nothing can be said about it, or about any of its kind", () => {
    const { look } = watch();
    const unknown = condition({ raises: false, message: "" });
    expect(look(0, [unknown])).toEqual([]);
    expect(look(1, [condition()])).toEqual(["mail begin failed i1"]);
    expect(look(2, [unknown])).toEqual([]);
    expect(look(3, [condition({ subject: everySubject, raises: false })])).toEqual([]);
    expect(look(4, [])).toEqual(["mail end failed i1"]);
  });

  test("that came back the next night is a new one", () => {
    const { look } = watch();
    for (const night of [0, 24, 48].map((hours) => hours * hourMs)) {
      expect(look(night, [condition()])).toHaveLength(1);
      expect(look(night + 12 * hourMs, [])).toHaveLength(1);
    }
  });
});

describe("what comes and goes", () => {
  test.each([10_000, 10 * minuteMs, 3 * hourMs])(
    "every %i ms is no storm: at most 14 alerts in a day",
    (everyMs) => {
      const { look, sent } = watch();
      for (let atMs = 0; atMs < 24 * hourMs; atMs += everyMs)
        look(atMs, (atMs / everyMs) % 2 === 0 ? [condition()] : []);
      expect(sent.length).toBeLessThanOrEqual(14);
      expect(sent.length).toBeGreaterThan(1);
      look(40 * hourMs, []);
      look(50 * hourMs, []);
      expect(sent.at(-1)).toMatch(/^mail end/);
    },
  );

  test("keeps begin and end in pairs, whatever comes in whatever order", () => {
    for (let seed = 1; seed <= 50; seed++) {
      const random = seededRandom(seed);
      const { look, sent } = watch([mail, chat]);
      let atMs = 0;
      for (let step = 0; step < 80; step++) {
        atMs += random.next() * 5 * hourMs;
        const raises = random.next() < 0.8;
        look(atMs, random.next() < 0.5 ? [condition({ raises })] : []);
      }
      look(atMs + hourMs, []);
      look(atMs + 100 * hourMs, []);
      for (const { key } of [mail, chat]) {
        const own = sent.filter((one) => one.startsWith(key)).map((one) => one.slice(key.length + 1));
        const ids = own.filter((one) => one.startsWith("begin")).map((one) => one.split(" ")[2] ?? "");
        expect(new Set(ids).size).toBe(ids.length);
        expect(own).toEqual(ids.flatMap((id) => [`begin failed ${id}`, `end failed ${id}`]));
      }
    }
  });
});

describe("an alert that is not taken", () => {
  const facts = { company: "acme", conditions: [condition()], newId: () => "i1" };

  test("is tried again later and later, and given up after days", () => {
    let state = decideAlerts(noIncidents, { ...facts, targets: [mail], nowMs: startMs });
    let nowMs = startMs;
    let attempts = 0;
    for (; state.undelivered.length > 0; nowMs += 5_000)
      for (const due of dueAlerts(state, nowMs)) {
        state = afterAttempt(state, due, "no route", nowMs);
        attempts++;
      }
    expect(attempts).toBe(60);
    expect(nowMs - startMs).toBeGreaterThan(48 * hourMs);
    expect(nowMs - startMs).toBeLessThan(60 * hourMs);
  });

  test("keeps later ones for the same target back, and none for another", () => {
    let state = decideAlerts(noIncidents, { ...facts, targets: [mail, chat], nowMs: startMs });
    for (const due of dueAlerts(state, startMs))
      state = afterAttempt(state, due, due.target === "mail" ? "no route" : null, startMs);
    state = decideAlerts(state, { ...facts, conditions: [], targets: [mail, chat], nowMs: startMs + 1 });
    const events = (atMs: number) => dueAlerts(state, atMs).map(({ target, alert }) => [target, alert.event]);
    expect(events(startMs + 1)).toEqual([["chat", "end"]]);
    expect(events(startMs + 20_000)).toEqual([
      ["mail", "begin"],
      ["chat", "end"],
    ]);
  });

  test("is forgotten with its target", () => {
    const state = decideAlerts(noIncidents, { ...facts, targets: [mail], nowMs: startMs });
    expect(decideAlerts(state, { ...facts, targets: [], nowMs: startMs }).undelivered).toEqual([]);
  });

  test("is not put off by a clock that was ahead", () => {
    const state = decideAlerts(noIncidents, { ...facts, targets: [mail], nowMs: startMs });
    const ahead = startMs + 1_000 * hourMs;
    const [due] = dueAlerts(state, ahead);
    if (!due) throw new Error("nothing is due");
    expect(dueAlerts(afterAttempt(state, due, "no route", ahead), startMs)).toHaveLength(1);
  });
});
