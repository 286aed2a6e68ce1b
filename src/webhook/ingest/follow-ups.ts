import { snakeCase } from "../../base/names.ts";
import type { Mirror } from "../../state/mirror.ts";
import type { ReadStamp } from "../../store/apply/read-stamp.ts";
import type { NewWorkItem } from "../../state/work-item.ts";
import type { WorkQueue } from "../../state/work-queue.ts";
import type { Delivery } from "../../state/inbox/inbox.ts";
import type { EventEvaluation } from "../../state/inbox/inbox.ts";

/**
 * What the events of one transaction lead to: each record one mark in the queue, however many events are
 * about it, and each event that nothing can be read for one row of the change log.
 */
export class FollowUps {
  /** Later than anything that was sent before these events were stored: only a read after it answers them (I4). */
  readonly dirtySeq: number;
  private readonly mirror: Mirror;
  private readonly queue: WorkQueue;
  private readonly receivedAtMs: number;
  private readonly marks = new Map<string, NewWorkItem>();
  private reading: ReadStamp | null = null;

  constructor(mirror: Mirror, queue: WorkQueue, receivedAtMs: number) {
    this.mirror = mirror;
    this.queue = queue;
    this.receivedAtMs = receivedAtMs;
    this.dirtySeq = mirror.sequence.next();
  }

  /** Of an event that the inbox did not know, or that is judged anew. */
  add(delivery: Delivery, verdict: EventEvaluation): void {
    if (verdict.state === "kept") this.keep(delivery, verdict);
    else if (verdict.state === "waiting") this.mark(delivery, verdict);
  }

  /** Before the transaction ends. */
  commit(): void {
    for (const work of this.marks.values()) this.queue.add(work);
  }

  private mark(delivery: Delivery, { resource, target, kind }: EventEvaluation): void {
    if (resource === null || target === null || kind === null) return;
    const key = `${resource} ${target}`;
    // Whether the record is gone is asked as soon as one event says so, whatever others say.
    const asked = this.marks.get(key)?.kind === "confirm" ? "confirm" : kind;
    const { dirtySeq } = this;
    const reason = delivery.type ?? "event";
    this.marks.set(key, { kind: asked, resource, target, lane: "webhook", reason, dirtySeq });
  }

  private keep({ type, resourceId, body }: Delivery, { resource }: EventEvaluation): void {
    if (type === null || resourceId === null || typeof body !== "string") return;
    this.reading ??= {
      cause: "webhook",
      sentSeq: this.dirtySeq,
      receivedSeq: this.dirtySeq,
      receivedAtMs: this.receivedAtMs,
      requestId: null,
      run: null,
    };
    const about = resource ?? snakeCase(type.split(".", 1)[0] ?? type);
    this.mirror.keepEvent(this.reading, about, resourceId, body);
  }
}
