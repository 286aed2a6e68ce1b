import { isoTime } from "../../../base/clock.ts";
import { messageOf, MirrorError } from "../../../base/errors.ts";
import { createRedactor } from "../../../base/secret.ts";
import { secretTexts } from "../../../config/companies.ts";
import type { Alert } from "../../../status/alerts/incidents.ts";
import type { AlertTarget } from "../../../status/alerts/targets.ts";
import { printResult } from "../../console/output.ts";
import type { CommandRun } from "../../program/command-table.ts";
import { targetsOf } from "../../runs/send-alerts.ts";

/** Sends a test alert to each target, and says which have taken it. */
export const alertsTestCommand: CommandRun<"alerts test"> = async (context, { loaded: { config } }) => {
  const { clock, random, signal, globals } = context;
  if (config.alerts.length === 0)
    throw new MirrorError("config", "the config has no alerts", {
      hint: "docs/monitoring.md shows two: mail by a command, and a chat by its webhook.",
    });
  const redact = createRedactor(secretTexts(config));
  const alert: Alert = {
    id: `${random.uuid()}-test`,
    event: "test",
    kind: "test",
    subject: "test",
    company: globals.company ?? null,
    message: "this is a test: nothing is wrong",
    began_at: isoTime(clock.nowMs()),
    ended_at: null,
  };
  const send = async ({ key, when, send: attempt }: AlertTarget) => {
    const error = await attempt(alert, signal).then(
      () => null,
      (reason: unknown) => redact(messageOf(reason)),
    );
    return { target: key, when, ok: error === null, error };
  };
  const targets = await Promise.all(targetsOf(context, config).map(send));
  const lines = targets.map(
    ({ target, ok, error }) => `${ok ? "ok  " : "fail"}  ${target}: ${error ?? "the test alert was taken"}`,
  );
  const isTaken = targets.every(({ ok }) => ok);
  await printResult(context, { ok: isTaken, targets }, lines);
  return isTaken ? "complete" : "failed";
};
