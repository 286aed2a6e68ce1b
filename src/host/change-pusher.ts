import { hourMs } from "../base/clock.ts";
import { stopSignal } from "../base/cancellation.ts";
import { messageOf } from "../base/errors.ts";
import { currentKey, currentUrl } from "../config/alert-section.ts";
import type { Config } from "../config/config.ts";
import { NotTaken, openPoster } from "../http/poster.ts";
import { backoffMs, retries } from "../retry/retry-limits.ts";
import { endOfLog } from "../state/log-identity.ts";
import { pushPositionKey, type PushPosition } from "../state/meta.ts";
import { createRecordRedactor } from "../state/mirror-snapshot.ts";
import { changeLine, Changes, type Change } from "../store/apply/change-log.ts";
import { createErrorGuard } from "../store/transient-errors.ts";
import { signatureOf } from "../webhook/ingest/delivery.ts";
import type { OpenCompany } from "./host-context.ts";

const lookEveryMs = 1_000;
/** The receiver wants nothing more, ever (Standard Webhooks). */
const gone = 410;
/** After so many failures in a row, about four minutes, no node holds a company for its receiver. */
const mostHeld = 7;
const untilWhen = "nothing more is sent to it until its entry is changed or `serve` is started again";
/** How long what is on its way may take when the mirror is closed. */
const graceMs = 3_000;
const loadAnew = "Load all of it anew: `export` without --since, or the report.";

/**
 * Sends the changes of one company to one receiver, each by a POST of its own.
 *
 * Guarantee: a change is sent when the receiver has taken all before it and that is on disk; once it was taken and noted
 * it is never sent again.
 * Source of truth: the change log, and the receiver's position in `_meta`.
 * Worst outcome of a crash: the change that was taken and not noted is sent again, with the same id.
 */
export class ChangePusher {
  private readonly company: OpenCompany;
  private readonly receiver: Config["notify"][number];
  private readonly changes: Changes;
  private readonly redact: ReturnType<typeof createRecordRedactor>;
  private readonly guard: ReturnType<typeof createErrorGuard>;
  private readonly late: AbortSignal;
  private position: PushPosition;
  private noted: PushPosition | null = null;
  private failures = 0;
  private lastFailure: NotTaken | null = null;
  private poster: ReturnType<typeof openPoster> | null = null;

  /** @param signal cuts off what is on its way */
  constructor(company: OpenCompany, receiver: Config["notify"][number], signal: AbortSignal) {
    const { context, settings, mirror, closed } = company;
    this.company = company;
    this.receiver = receiver;
    this.changes = new Changes(mirror.db);
    this.redact = createRecordRedactor(mirror.db, mirror.declaration, settings.config.report.redact);
    this.guard = createErrorGuard(context.clock, context.log);
    this.late = stopSignal({ closed, signal, graceMs });
    this.position = { ...endOfLog(mirror.db), error: null, refuses: false };
  }

  /** Sends until `closed`, or the receiver is gone. Rejects where the mirror cannot be used any more. */
  async follow(): Promise<void> {
    const { context, closed } = this.company;
    this.begin();
    while (!closed.aborted) {
      await this.note();
      await this.sendAll();
      await this.note();
      if (this.lastFailure?.status === gone) return;
      const asked = Math.min(this.lastFailure?.retryAfterMs ?? 0, retries.change.longestAskedMs);
      const againMs = this.failures > 0 ? backoffMs(this.failures, retries.change, context.random) : 0;
      await context.clock.sleep(Math.max(lookEveryMs, asked, againMs), closed);
    }
  }

  /** When there is something to send, epoch ms; null: the receiver has everything, or wants nothing. */
  dueMs(nowMs: number): number | null {
    if (this.lastFailure?.status === gone || this.position.seq >= this.changes.lastSeq()) return null;
    return this.failures < mostHeld ? nowMs : nowMs + hourMs;
  }

  /** Goes on where the receiver was. One that is new, or was in another log, begins at the present end. */
  private begin(): void {
    const { context, mirror } = this.company;
    const known = mirror.meta.get(pushPositionKey(this.receiver.key)) as PushPosition | null;
    const about = { ...this.about(), hint: loadAnew };
    if (known?.log === this.position.log) this.position = this.noted = known;
    else if (known === null) context.log.info("a new receiver gets what changes from now on", this.about());
    else context.log.warn("the change log is a new one: the receiver gets what changes from now on", about);
  }

  private async sendAll(): Promise<void> {
    try {
      for (let next = this.next(); next && !this.company.closed.aborted; next = this.next()) {
        if (!(await this.isTaken(next))) return;
        this.moveTo(next.seq);
        await this.note();
      }
    } finally {
      await this.poster?.close();
      this.poster = null;
    }
  }

  /** The next change that the receiver gets; null: there is none, or the mirror cannot be read at this moment. */
  private next(): Change | null {
    const { changes, receiver } = this;
    const { context, hooks } = this.company;
    return this.guard(() => {
      const first = changes.firstSeq();
      if (this.position.seq < first - 1) {
        const about = { ...this.about(), goes_on_with: first, hint: loadAnew };
        context.log.error("changes were removed before the receiver took them", about);
        this.moveTo(first - 1);
      }
      const endSeq = Math.min(changes.lastSeq(), hooks?.sharedSeq() ?? Infinity);
      const [next] = changes.after(this.position.seq, receiver.tables, 1);
      if (next && next.seq <= endSeq) return next;
      // What it does not get need not be looked at again, and may be removed.
      this.moveTo(Math.max(this.position.seq, endSeq));
      return null;
    });
  }

  private async isTaken(change: Change): Promise<boolean> {
    const { context, closed } = this.company;
    try {
      await this.send(change);
      if (this.position.error !== null) context.log.info("the receiver takes changes again", this.about());
      this.failures = 0;
      this.lastFailure = null;
      return true;
    } catch (thrown) {
      if (closed.aborted) return false;
      const failure = thrown instanceof NotTaken ? thrown : null;
      const isGone = failure?.status === gone;
      const error = `${messageOf(thrown)}${isGone ? `: ${untilWhen}` : ""}`;
      const facts = { ...this.about(), seq: change.seq, error };
      if (isGone) context.log.error("a receiver of changes is gone", facts);
      else if (error !== this.position.error)
        context.log.warn("a change was not taken: it is sent again, and later ones wait", facts);
      this.failures += 1;
      this.lastFailure = failure;
      this.position = { ...this.position, error, refuses: failure?.refuses ?? false };
      return false;
    }
  }

  private async send(change: Change): Promise<void> {
    const { receiver } = this;
    const { clock, onSecrets, version } = this.company.context;
    const key = currentKey(receiver.secret, onSecrets);
    this.poster ??= openPoster(currentUrl(receiver.url, onSecrets), version, !receiver.allowPrivate);
    const [id, body] = [`${this.position.log}:${change.seq}`, this.bodyOf(change)];
    const seconds = Math.floor(clock.nowMs() / 1000);
    const signature = signatureOf(`${id}.${seconds}.${body}`, key).toString("base64");
    await this.poster.post({ id, body, seconds, signature: `v1,${signature}` }, this.late);
  }

  /** The change as `changes` prints it, without what is redacted, in the envelope of Standard Webhooks. */
  private bodyOf(change: Change): string {
    const { resource, op, at } = change;
    const before = this.redact(resource, change.before);
    const after = this.redact(resource, change.after);
    const { name: company } = this.company.settings.company;
    const head = JSON.stringify({ type: `${resource}.${op}`, timestamp: at, company });
    const line = changeLine({ ...change, before, after }, this.position.log);
    return `${head.slice(0, -1)},"data":${line}}`;
  }

  private moveTo(seq: number): void {
    if (seq !== this.position.seq) this.position = { ...this.position, seq, error: null, refuses: false };
  }

  /** Resolves when the position is on disk, or the mirror is closed. */
  private async note(): Promise<void> {
    const { receiver, position } = this;
    const { context, mirror, closed } = this.company;
    if (JSON.stringify(position) === JSON.stringify(this.noted)) return;
    const write = () => {
      mirror.apply(() => mirror.meta.set(pushPositionKey(receiver.key), position));
      return true;
    };
    await context.turns.next();
    while (!this.guard(write) && !closed.aborted) await context.clock.sleep(lookEveryMs, closed);
    this.noted = position;
    this.company.hooks?.onPushed();
  }

  private about() {
    const { log, seq } = this.position;
    return { receiver: this.receiver.key, position: `${log}:${seq}` };
  }
}
