import { isListOf, readJsonFile, writeFileAtomically } from "../../base/files/atomic-file.ts";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import { terminalText } from "../../base/terminal-text.ts";
import type { MirrorFiles } from "../../store/mirror-files.ts";
import { retries } from "../../retry/retry-limits.ts";
import { afterAttempt, decideAlerts, dueAlerts, noIncidents } from "./incidents.ts";
import type { AlertState, Condition, Undelivered } from "./incidents.ts";
import type { AlertTarget } from "./targets.ts";

const mostCharacters = 2_000;

export interface AlertSending {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly redact: (text: string) => string;
  readonly targets: readonly AlertTarget[];
}

/** What is kept of incidents; nothing where the file is missing or cannot be read. */
function readAlertState(file: string): AlertState {
  const { incidents, undelivered } = readJsonFile<AlertState>(file) ?? {};
  const alerts = isListOf(undelivered, ["target"]) ? undelivered?.map(({ alert }) => alert) : null;
  const isSound = [incidents, alerts].every((list) => isListOf(list, ["id", "kind", "subject"]));
  return isSound ? ({ incidents, undelivered } as AlertState) : noIncidents;
}

/** What concerns a company, all companies included. */
export function readAlerts(files: Pick<MirrorFiles, "alerts" | "folderAlerts">): AlertState {
  const [own, all] = [readAlertState(files.alerts), readAlertState(files.folderAlerts)];
  return {
    incidents: [...own.incidents, ...all.incidents],
    undelivered: [...own.undelivered, ...all.undelivered],
  };
}

/**
 * The incidents of one company, and the alerts about them.
 *
 * Guarantee: an alert is on disk before it is sent, and stays there until its target has taken it or it is given up
 * after days. While the disk is full, memory stands in for the file.
 * Source of truth: the file.
 * Worst outcome of a crash: an alert that its target has taken is sent again, with the same id.
 *
 * @param company null: what concerns all companies
 */
export function createAlerter(sending: AlertSending, file: string, company: string | null) {
  const { clock, random, log, redact, targets } = sending;
  let state = readAlertState(file);
  let written = JSON.stringify(state);
  let isDelivering = false;
  /** Never throws: without room on the disk an alert is sent all the same. */
  const keep = (next: AlertState) => {
    state = next;
    const text = JSON.stringify(state);
    if (text === written) return;
    try {
      writeFileAtomically(file, `${text}\n`, 0o600);
      written = text;
    } catch (error) {
      const warning = "incidents cannot be recorded: after a restart alerts may be sent again";
      log.warn(warning, { error: messageOf(error) });
    }
  };
  const due = (force: boolean) => (force ? state.undelivered : dueAlerts(state, clock.nowMs()));
  const deliverTo = async (target: AlertTarget, signal: AbortSignal, force: boolean): Promise<number> => {
    for (;;) {
      const next = due(force).find((one) => one.target === target.key);
      if (!next || signal.aborted) return 0;
      const error = await attempt(sending, next, target, signal);
      if (signal.aborted && error !== null) return 1;
      keep(afterAttempt(state, next, error, clock.nowMs()));
      if (error !== null) return 1;
    }
  };
  return {
    /** What is decided, also while the disk is full. */
    current: () => state,

    update: (all: readonly Condition[]) => {
      const conditions = all.map((one) => {
        return { ...one, message: terminalText(redact(one.message), mostCharacters) };
      });
      const facts = { company, conditions, targets, nowMs: clock.nowMs() };
      keep(decideAlerts(state, { ...facts, newId: () => random.uuid() }));
    },

    isDue: (force = false) => !isDelivering && due(force).length > 0,

    /** Makes one attempt for each alert that is due, with `force` for all. Never rejects. Gives the number that was not taken. */
    deliver: async (signal: AbortSignal, force = false): Promise<number> => {
      isDelivering = true;
      try {
        const each = targets.map((target) => deliverTo(target, signal, force));
        return (await Promise.all(each)).reduce((sum, failed) => sum + failed, 0);
      } finally {
        isDelivering = false;
      }
    },
  };
}

/** Null: the target has taken it. */
async function attempt(
  { log, redact }: AlertSending,
  { alert, attempts }: Undelivered,
  { key, send }: AlertTarget,
  signal: AbortSignal,
) {
  const { event, kind, id, company } = alert;
  const about = { ...(company !== null && { company }), target: key, event, kind, id };
  try {
    await send(alert, signal);
    log.info("an alert was sent", about);
    return null;
  } catch (error) {
    const message = redact(messageOf(error));
    const said = { ...about, attempt: attempts + 1, error: message };
    if (said.attempt >= retries.alert.attempts)
      log.error("an alert was given up: it was not taken for days", said);
    else if (!signal.aborted) log.warn("an alert was not delivered: it is tried again", said);
    return message;
  }
}
