import { execFile } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { hourMs, minuteMs, systemClock } from "../../src/base/clock.ts";
import {
  afterAttempt,
  decideAlerts,
  dueAlerts,
  everySubject,
  noIncidents,
  type AlertFacts,
  type AlertState,
  type Condition,
  type Alert,
} from "../../src/status/alerts/incidents.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { createRedactor } from "../../src/base/secret.ts";
import { createAlerter, readAlerts } from "../../src/status/alerts/alerter.ts";
import { runAlertCommand } from "../../src/status/alerts/targets.ts";
import { root, temporaryFolder } from "../support/program/cli.ts";
import { loggingTo } from "../support/company/open-company.ts";
import { eventually } from "../support/eventually.ts";

const startMs = Date.UTC(2026, 10, 22, 3);
const mail = { key: "mail", when: ["failed", "stale"] } as const;
const chat = { key: "chat", when: ["failed"] } as const;

const begunAlert: Alert = {
  id: "i1-begin",
  event: "begin",
  kind: "failed",
  subject: "reading",
  company: "acme",
  message: "the service is away",
  began_at: "2026-11-22T03:00:00.000Z",
  ended_at: null,
};

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
  test("goes only to targets that ask for its kind", () => {
    const { look } = watch([mail, chat]);
    const stale = condition({ kind: "stale", subject: "lists" });
    const begun = ["mail begin failed i1", "chat begin failed i1", "mail begin stale i2"];
    expect(look(0, [condition(), stale])).toEqual(begun);
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
    const ended = look(2, [], [chat, deaf, { key: "new", when: ["failed"] }]);
    expect(ended).toEqual(["chat end failed i1", "mail end failed i1"]);
  });

  test("goes to no target that came while nothing is wrong and only its calm is waited for", () => {
    const { look } = watch([chat]);
    for (const conditions of [[condition()], [], [condition()], []]) look(0, conditions);
    expect(look(1, [], [chat, mail])).toEqual([]);
    expect(look(2, [condition()], [chat, mail])).toEqual(["mail begin failed i2"]);
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
  test.each([10_000, 10 * minuteMs, 3 * hourMs])("every %i ms makes 14 alerts a day at most", (everyMs) => {
    const { look, sent } = watch();
    for (let atMs = 0; atMs < 24 * hourMs; atMs += everyMs)
      look(atMs, (atMs / everyMs) % 2 === 0 ? [condition()] : []);
    expect(sent.length).toBeLessThanOrEqual(14);
    expect(sent.length).toBeGreaterThan(1);
    look(40 * hourMs, []);
    look(50 * hourMs, []);
    expect(sent.at(-1)).toMatch(/^mail end/);
  });

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

const noSignal = new AbortController().signal;
const failedReading = condition({ message: "GET https://token-of-acme@example.com failed\u001b[31m" });

const stateIn = (file: string) => readAlerts({ alerts: file, folderAlerts: `${file}.none` });

/** With one target, which gets alerts about failures by `send`. */
function anAlerter(file: string, send: (alert: Alert) => Promise<void>, said: string[] = []) {
  const targets = [{ key: "mail", when: ["failed"], send }] as const;
  const redact = createRedactor(["token-of-acme"]);
  const parts = { clock: systemClock, random: seededRandom(1), log: loggingTo(said), redact };
  return createAlerter({ ...parts, targets }, file, "acme");
}

function run(words: readonly string[], timeLimitMs = 60_000): Promise<void> {
  const env = { PATH: process.env["PATH"], FINTORO_TOKEN: "token-of-acme" };
  return runAlertCommand(words, JSON.stringify(begunAlert), begunAlert, env, timeLimitMs, noSignal);
}

// Fault: process | the program is killed after a target took an alert, before that was recorded | between sending and recording | it is sent again with the same id: twice, never not at all
test("an alert is on disk before it is sent, and redacted there; after a kill it is sent again with its id", async () => {
  const file = path.join(temporaryFolder(), "acme.alerts.json");
  const ids: string[] = [];
  const killed = anAlerter(file, ({ id }) => {
    expect(stateIn(file).undelivered).toMatchObject([{ alert: { id } }]);
    ids.push(id);
    return new Promise<void>(() => undefined);
  });
  killed.update([failedReading]);
  void killed.deliver(noSignal);
  const [kept] = stateIn(file).undelivered;
  expect(kept?.alert.message).toBe("GET https://[redacted]@example.com failed\\x1b[31m");
  const next = anAlerter(file, async ({ id }) => void ids.push(id));
  next.update([failedReading]);
  await next.deliver(noSignal);
  expect(ids).toEqual([kept?.alert.id, kept?.alert.id]);
  expect(stateIn(file)).toMatchObject({ incidents: [{ ended_at: null }], undelivered: [] });
});

// Fault: files | the file of incidents is damaged | its content | what cannot be read counts as none
test.each([
  "null",
  "5",
  '{"incidents":5,"undelivered":[null]}',
  '{"incidents":[[]],"undelivered":[{"alert":5}]}',
])("a file of incidents with %s holds none", (text) => {
  const file = path.join(temporaryFolder(), "acme.alerts.json");
  writeFileSync(file, text);
  expect(stateIn(file)).toEqual({ incidents: [], undelivered: [] });
});

// Fault: disk | the data folder cannot be written, as on a full disk | the file of incidents | alerts are sent all the same, once by this process
test("a full disk keeps no alert back", async () => {
  const said: string[] = [];
  const sent: string[] = [];
  const file = path.join(temporaryFolder(), "missing", "acme.alerts.json");
  const alerter = anAlerter(file, async ({ event }) => void sent.push(event), said);
  for (const conditions of [[failedReading], [failedReading], []]) {
    alerter.update(conditions);
    await alerter.deliver(noSignal);
  }
  expect(sent).toEqual(["begin", "end"]);
  expect(said.join("\n")).toContain("incidents cannot be recorded");
});

// Fault: process | the command of an alert hangs, with a child of its own, and prints without end | the program of an alert's target | it and its child are killed at the time limit, and little of its output is kept
test("a command that hangs is killed with what it started, and the alert is not delivered; one that ends leaves nothing behind", async () => {
  const pid = path.join(temporaryFolder(), "pid");
  // Longer than a test waits.
  const starts = `sleep 600 & echo $! > ${pid}`;
  // A killed process that nobody waits for stays in the table of processes in some containers.
  const isGone = () => {
    const stat = `/proc/${Number(readFileSync(pid, "utf8"))}/stat`;
    return !existsSync(stat) || readFileSync(stat, "utf8").includes(") Z");
  };
  await expect(run(["sh", "-c", `${starts}; yes no-end`], 2_000)).rejects.toThrow("did not end within 2 s");
  await eventually(isGone, "the end of its child");
  await run(["sh", "-c", starts]);
  await eventually(isGone, "the end of its child, again");
});

test("a command gets the alert on stdin and a few facts, nothing else of the environment, and no shell", async () => {
  const file = path.join(temporaryFolder(), "kept");
  await run(["sh", "-c", `cat > ${file}; env >> ${file}; printf %s "$0" >> ${file}`, "$(id)"]);
  const kept = readFileSync(file, "utf8");
  expect(JSON.parse(kept.slice(0, kept.indexOf("}") + 1))).toEqual(begunAlert);
  expect(kept).toContain("FINTORO_MIRROR_ALERT_COMPANY=acme");
  expect(kept).toContain("$(id)");
  expect(kept).not.toContain("token-of-acme");
});

const noisy = "yes no-room | head -c 100000 >&2; exit 3";

test.each([
  [["no-such-program-anywhere"], /it cannot be started: .*ENOENT/],
  [["sh", "-c", noisy], /^it ended with exit code 3: (?:no-room.{4})+.*…$/],
])("a command %j that fails says why, in a few words", async (words, message) => {
  const error = (await run(words).catch((reason: unknown) => reason)) as Error;
  expect(error.message).toMatch(message);
  expect(error.message.length).toBeLessThan(400);
});

// Fault: process | the daemon has as many files open as it may | a command, or this program, that it starts | that alone fails, with the reason; the daemon goes on
test("what cannot be started because too many files are open fails alone", async () => {
  const [alerts, own] = ["status/alerts/targets.ts", "cli/program/own-process.ts"].map(
    (file) => new URL(`../../src/${file}`, import.meta.url).href,
  );
  const script = `import { openSync } from "node:fs";
    import { runAlertCommand } from "${alerts}";
    import { runOwn } from "${own}";
    const { signal } = new AbortController();
    try { for (;;) openSync("/dev/null"); } catch {}
    const both = [runAlertCommand(["true"], "", ${JSON.stringify(begunAlert)}, {}, 1_000, signal), runOwn([], {}, "", signal)];
    console.log((await Promise.allSettled(both)).map(({ reason }) => String(reason)).join());`;
  const words = [process.execPath, "--input-type=module", "--eval", script];
  const limited = ["-c", 'ulimit -n 64 && exec "$0" "$@"', ...words];
  const { stdout } = await promisify(execFile)("sh", limited);
  expect(stdout).toMatch(/^Error: it cannot be started: spawn true EMFILE,Error: spawn .* EMFILE\n$/);
});

test("the command in examples/ makes a mail of an alert", async () => {
  const folder = temporaryFolder({ sendmail: '#!/bin/sh\n[ "$*" = -t ]\ncat > "$(dirname "$0")/mail"\n' });
  chmodSync(path.join(folder, "sendmail"), 0o700);
  await run([path.join(root, "examples/mail-alert"), "ops@example.com", path.join(folder, "sendmail")]);
  const [head = "", text, json = ""] = readFileSync(path.join(folder, "mail"), "utf8").split("\n\n");
  expect(head).toMatch(
    /^To: ops@example\.com\nSubject: fintoro-mirror acme: begin of failed\nContent-Type: text\/plain/,
  );
  expect(text).toBe(begunAlert.message);
  expect(JSON.parse(json)).toEqual(begunAlert);
});
