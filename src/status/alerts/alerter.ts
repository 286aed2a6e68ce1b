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

/** What the alerters of a config have in common. */
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
 */
export class Alerter {
  private readonly sending: AlertSending;
  private readonly file: string;
  private readonly company: string | null;
  private state: AlertState;
  private written: string;
  private isDelivering = false;

  /** @param company null: what concerns all companies */
  constructor(sending: AlertSending, file: string, company: string | null) {
    this.sending = sending;
    this.file = file;
    this.company = company;
    this.state = readAlertState(file);
    this.written = JSON.stringify(this.state);
  }

  /** What is decided, also while the disk is full. */
  get current(): AlertState {
    return this.state;
  }

  /** Takes in what is wrong now; what follows is to be delivered. */
  update(all: readonly Condition[]): void {
    const { clock, random, redact, targets } = this.sending;
    const conditions = all.map((one) => {
      return { ...one, message: terminalText(redact(one.message), mostCharacters) };
    });
    const { company } = this;
    const newId = () => random.uuid();
    this.keep(decideAlerts(this.state, { company, conditions, targets, nowMs: clock.nowMs(), newId }));
  }

  /** Is there something to deliver, and nobody at it? */
  isDue(force = false): boolean {
    return !this.isDelivering && this.due(force).length > 0;
  }

  private due(force: boolean): readonly Undelivered[] {
    return force ? this.state.undelivered : dueAlerts(this.state, this.sending.clock.nowMs());
  }

  /** Makes one attempt for each alert that is due, with `force` for all. Never rejects. Gives the number that was not taken. */
  async deliver(signal: AbortSignal, force = false): Promise<number> {
    this.isDelivering = true;
    try {
      const each = this.sending.targets.map((target) => this.deliverTo(target, signal, force));
      return (await Promise.all(each)).reduce((sum, failed) => sum + failed, 0);
    } finally {
      this.isDelivering = false;
    }
  }

  private async deliverTo(target: AlertTarget, signal: AbortSignal, force: boolean): Promise<number> {
    for (;;) {
      const next = this.due(force).find((one) => one.target === target.key);
      if (!next || signal.aborted) return 0;
      const error = await this.attempt(next, target, signal);
      if (signal.aborted && error !== null) return 1;
      this.keep(afterAttempt(this.state, next, error, this.sending.clock.nowMs()));
      if (error !== null) return 1;
    }
  }

  /** Null: the target has taken it. */
  private async attempt({ alert, attempts }: Undelivered, { key, send }: AlertTarget, signal: AbortSignal) {
    const { log, redact } = this.sending;
    const { event, kind, id, company } = alert;
    const about = { ...(company !== null && { company }), target: key, event, kind, id };
    try {
      await send(alert, signal);
      log.info("an alert was sent", about);
      return null;
    } catch (error) {
      const message = redact(messageOf(error));
      const attempt = attempts + 1;
      const said = { ...about, attempt, error: message };
      if (attempt >= retries.alert.attempts)
        log.error("an alert was given up: it was not taken for days", said);
      else if (!signal.aborted) log.warn("an alert was not delivered: it is tried again", said);
      return message;
    }
  }

  /** Never throws: without room on the disk an alert is sent all the same. */
  private keep(state: AlertState): void {
    this.state = state;
    const text = JSON.stringify(state);
    if (text === this.written) return;
    try {
      writeFileAtomically(this.file, `${text}\n`, 0o600);
      this.written = text;
    } catch (error) {
      this.sending.log.warn("incidents cannot be recorded: after a restart alerts may be sent again", {
        error: messageOf(error),
      });
    }
  }
}
