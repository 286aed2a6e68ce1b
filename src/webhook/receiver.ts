import type { Clock } from "../base/clock.ts";
import { hintOf, messageOf, MirrorError } from "../base/errors.ts";
import { createSeldomLog, type Log, type SeldomLog } from "../base/logger.ts";
import type { Refusal } from "./delivery-gap/refusal-watch.ts";
import { isSecret, isSigned, isTimely, readDelivery, readHead } from "./ingest/delivery.ts";
import type { Answer, DeliveryHead, RefusalReason } from "./ingest/delivery.ts";
import type { Delivery } from "../state/inbox/inbox.ts";
import { GroupCommit } from "./ingest/group-commit.ts";
import { logStored, type Ingest, type ReceivedResult } from "./ingest/ingest.ts";

export interface Companies {
  /** `unavailable`: the company's mirror cannot be written now. Null: there is no such company. */
  find(name: string): Ingest | "unavailable" | null;
  /**
   * Counts an answer: `stored`, `known` (a duplicate) or an HTTP status. `name` is "" where no company was meant;
   * `refusal` is given for a delivery that was refused.
   */
  countAnswer(name: string, result: string, refusal?: Refusal): void;
}

export interface ReceiverOptions {
  readonly companies: Companies;
  readonly clock: Clock;
  readonly log: Log;
}

export type AdmittedDelivery = Exclude<ReturnType<Receiver["admit"]>, Answer>;

const groupLimits = { maxItems: 2_000, maxBytes: 16_000_000 };
/** Bodies of all companies that wait or are being committed. */
const mostHeldBytes = 64_000_000;
const unknownCompany: Answer = { status: 404, why: "no such address", reason: "unknown_company" };
const stale: Answer = {
  status: 401,
  why: "webhook-timestamp is not within 300 seconds of now",
  reason: "stale_timestamp",
};
const notOpen: Answer = unavailable("the mirror is not open", "not_open");
const tooManyWaiting: Answer = unavailable("too many deliveries are waiting", "too_busy");
const notStored: Answer = unavailable("the event cannot be stored now", "not_stored");
/** What a stored delivery is counted as; metrics and readers of `status --json` know these words. */
const countedAs = { stored: "stored", duplicate: "known" } as const;

/**
 * Decides what to answer to deliveries, apart from how they arrive.
 *
 * Guarantee: 204 only after the event is committed, now or by an earlier delivery (I6). Nothing is thrown into
 * the server; a database that fails gives 503, so that the service sends the event again.
 */
export class Receiver {
  private readonly options: ReceiverOptions;
  private readonly logRefusal: SeldomLog;
  /** One group for each open mirror: a transaction is of one database. */
  private readonly groups = new WeakMap<Ingest, GroupCommit<Delivery, ReceivedResult>>();
  private heldBytes = 0;

  constructor(options: ReceiverOptions) {
    this.options = options;
    this.logRefusal = createSeldomLog(options.log, options.clock);
  }

  knows(company: string): boolean {
    return this.options.companies.find(company) !== null;
  }

  /** Checks all that can be checked before a byte of the body is read. */
  admit(company: string, rawHeaders: readonly string[]) {
    const ingest = this.options.companies.find(company);
    if (ingest === null) return this.refuse("", unknownCompany);
    if (ingest === "unavailable") return this.refuse(company, notOpen);
    const head = readHead(rawHeaders, ingest.form);
    if ("status" in head) return this.refuse(company, head);
    return { company, ingest, head };
  }

  /** Verifies and stores a delivery. Answers later, after the commit; for each company in the order of arrival. */
  deliver(admission: AdmittedDelivery, body: Buffer, respond: (answer: Answer) => void): void {
    const { company, ingest, head } = admission;
    let delivery: Delivery | Answer;
    const isTimed = ingest.form.kind === "signed";
    const isStale = isTimed && !isTimely(head.timestamp, this.options.clock.nowMs());
    try {
      delivery = verified(ingest, body, head);
      if (isStale) return void this.refuseStale(admission, delivery).then(respond);
    } catch (error) {
      return respond(this.failed(company, error));
    }
    if ("status" in delivery) return respond(this.refuse(company, delivery));
    this.store(admission, delivery, body.length, respond);
  }

  private store(
    { company, ingest }: AdmittedDelivery,
    delivery: Delivery,
    sizeBytes: number,
    respond: (answer: Answer) => void,
  ): void {
    const committed = (result: ReceivedResult | null, error?: unknown) => {
      this.heldBytes -= sizeBytes;
      if (!result) return respond(this.failed(company, error));
      this.options.companies.countAnswer(company, countedAs[result.outcome]);
      respond({ status: 204, why: "", reason: null });
    };
    const isRoom = this.heldBytes + sizeBytes <= mostHeldBytes;
    if (!isRoom || !this.groupOf(company, ingest).add(delivery, sizeBytes, committed))
      return respond(this.refuse(company, tooManyWaiting));
    this.heldBytes += sizeBytes;
  }

  /** Counts and logs a refusal; `facts`: what it says of the company's health. */
  refuse(company: string, answer: Answer, facts: Omit<Refusal, "reason"> = {}): Answer {
    const { status, why, reason } = answer;
    const refusal = reason === null ? undefined : { reason, ...facts };
    this.options.companies.countAnswer(company, String(status), refusal);
    const fields = { ...(company !== "" && { company }), status, why };
    const what = reason === null ? "a request was refused" : "a delivery was refused";
    this.logRefusal(`${company} ${status} ${why}`, what, fields);
    return answer;
  }

  /**
   * The body is read although the answer is known: a signed event that is not stored is one that the service sends,
   * and says that this clock may be wrong. One that is stored is an old copy.
   */
  private async refuseStale(
    { company, ingest, head }: AdmittedDelivery,
    delivery: Delivery | Answer,
  ): Promise<Answer> {
    const offsetMs = this.options.clock.nowMs() - Number(head.timestamp) * 1000;
    const isSent = !("status" in delivery);
    try {
      const isCopy = isSent && (await ingest.has(delivery.eventId));
      return this.refuse(company, stale, { isGenuine: isSent && !isCopy, isCopy, offsetMs });
    } catch (error) {
      return this.failed(company, error);
    }
  }

  private failed(company: string, error: unknown): Answer {
    this.logRefusal(`${company} failed`, "events cannot be stored", {
      company,
      error: messageOf(error),
      ...hintOf(error),
    });
    return this.refuse(company, notStored, { isGenuine: true });
  }

  private groupOf(company: string, ingest: Ingest): GroupCommit<Delivery, ReceivedResult> {
    const known = this.groups.get(ingest);
    if (known) return known;
    const { clock, log } = this.options;
    const commit = async (deliveries: readonly Delivery[]) => {
      const results = await ingest.store(deliveries, clock.nowMs());
      logStored(log, company, results);
      return results;
    };
    const nowMs = () => clock.monotonicMs();
    const group = new GroupCommit({ ...groupLimits, commit, failsForAll, nowMs });
    this.groups.set(ingest, group);
    return group;
  }
}

/** A database that is busy or full fails for every delivery alike. */
const failsForAll = (error: unknown) => error instanceof MirrorError && error.retryable;

function unavailable(why: string, reason: RefusalReason): Answer {
  return { status: 503, why: `${why}; send the delivery again`, reason };
}

/** A key that fails may just have been replaced: the key files are read again before the delivery is refused. */
function verified(
  { keyring, form }: Ingest,
  body: Buffer,
  { id, signature }: DeliveryHead,
): Delivery | Answer {
  const isPlain = form.kind === "secret";
  const matches = () =>
    isPlain ? isSecret(signature, keyring.accepted()) : isSigned(body, signature, keyring.accepted());
  if (matches() || (keyring.refresh() && matches())) return readDelivery(body, id, form);
  const name = isPlain ? form.secretHeader : "webhook-signature";
  return { status: 401, why: `${name} does not match`, reason: "bad_signature" };
}
