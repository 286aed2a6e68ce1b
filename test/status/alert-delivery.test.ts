import { chmodSync, existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createRedactor } from "../../src/base/secret.ts";
import { Alerter, readAlerts } from "../../src/status/alerts/alerter.ts";
import { runAlertCommand } from "../../src/status/alerts/targets.ts";
import type { Alert, Condition } from "../../src/status/alerts/incidents.ts";
import { begunAlert } from "../support/status/alert.ts";
import { root, temporaryFolder } from "../support/program/cli.ts";
import { loggingTo } from "../support/company/open-company.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { eventually } from "../support/eventually.ts";

const noSignal = new AbortController().signal;
const failed: Condition = {
  kind: "failed",
  subject: "reading",
  message: "GET https://token-of-acme@example.com failed\u001b[31m",
  raises: true,
  blocks: true,
};

const stateIn = (file: string) => readAlerts({ alerts: file, folderAlerts: `${file}.none` });

/** With one target, which gets alerts about failures by `send`. */
function anAlerter(file: string, send: (alert: Alert) => Promise<void>, said: string[] = []): Alerter {
  const targets = [{ key: "mail", when: ["failed"], send }] as const;
  const redact = createRedactor(["token-of-acme"]);
  const parts = { clock: systemClock, random: seededRandom(1), log: loggingTo(said), redact };
  return new Alerter({ ...parts, targets }, file, "acme");
}

function run(words: readonly string[], timeLimitMs = 5_000): Promise<void> {
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
  killed.update([failed]);
  void killed.deliver(noSignal);
  const [kept] = stateIn(file).undelivered;
  expect(kept?.alert.message).toBe("GET https://[redacted]@example.com failed\\x1b[31m");
  const next = anAlerter(file, async ({ id }) => void ids.push(id));
  next.update([failed]);
  await next.deliver(noSignal);
  expect(ids).toEqual([kept?.alert.id, kept?.alert.id]);
  expect(stateIn(file)).toMatchObject({ incidents: [{ ended_at: null }], undelivered: [] });
});

// Fault: disk | the data folder cannot be written, as on a full disk | the file of incidents | alerts are sent all the same, once by this process
test("a full disk keeps no alert back", async () => {
  const said: string[] = [];
  const sent: string[] = [];
  const file = path.join(temporaryFolder(), "missing", "acme.alerts.json");
  const alerter = anAlerter(file, async ({ event }) => void sent.push(event), said);
  for (const conditions of [[failed], [failed], []]) {
    alerter.update(conditions);
    await alerter.deliver(noSignal);
  }
  expect(sent).toEqual(["begin", "end"]);
  expect(said.join("\n")).toContain("incidents cannot be recorded");
});

// Fault: process | the command of an alert hangs, with a child of its own, and prints without end | the program of an alert's target | it and its child are killed at the time limit, and little of its output is kept
test("a command that hangs is killed with what it started, and the alert is not delivered", async () => {
  const folder = temporaryFolder();
  const pid = path.join(folder, "pid");
  const script = `sleep 60 & echo $! > ${pid}; yes no-end`;
  await expect(run(["sh", "-c", script], 500)).rejects.toThrow("it did not end within 0.5 s");
  const child = Number(readFileSync(pid, "utf8"));
  // A killed process that nobody waits for stays in the table of processes in some containers.
  const isGone = () => {
    const stat = `/proc/${child}/stat`;
    return !existsSync(stat) || readFileSync(stat, "utf8").includes(") Z");
  };
  await eventually(isGone, "the end of its child");
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
