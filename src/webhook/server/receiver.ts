import type { Clock } from "../../base/clock.ts";
import { hintOf, messageOf, MirrorError } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import { isSigned, isTimely, readDelivery, readHead } from "../ingest/delivery.ts";
import type { Answer, DeliveryHead } from "../ingest/delivery.ts";
import type { Delivery } from "../../state/inbox/inbox.ts";
import { GroupCommit } from "../ingest/group-commit.ts";
import type { Ingest, StoreResult } from "../ingest/ingest.ts";
import { createRefusalLog, logStored, type RefusalLog } from "./delivery-log.ts";

/** The companies that deliveries may be for. */
export interface Companies {
  /** `unavailable`: the company's mirror cannot be written now. Null: there is no such company. */
  find(name: string): Ingest | "unavailable" | null;
  /** Counts an answer: `stored`, `known` (a duplicate) or an HTTP status. `name` is "" where no company was meant. */
  countAnswer(name: string, result: string): void;
}

/** What the receiver works with. */
export interface ReceiverOptions {
  readonly companies: Companies;
  readonly clock: Clock;
  readonly log: Log;
}

/** A delivery whose headers are in order; its body may be read. */
export interface Admission {
  readonly company: string;
  readonly ingest: Ingest;
  readonly head: DeliveryHead;
}

const groupLimits = { maxItems: 2_000, maxBytes: 16_000_000 };
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
  private readonly logRefusal: RefusalLog;
  /** One group for each open mirror: a transaction is of one database. */
  private readonly groups = new WeakMap<Ingest, GroupCommit<Delivery, StoreResult>>();

  constructor(options: ReceiverOptions) {
    this.options = options;
    this.logRefusal = createRefusalLog(options.log, options.clock);
  }

  /** Is there such a company? */
  knows(company: string): boolean {
    return this.options.companies.find(company) !== null;
  }

  /** Checks all that can be checked before a byte of the body is read. */
  admit(company: string, rawHeaders: readonly string[]): Admission | Answer {
    const ingest = this.options.companies.find(company);
    if (ingest === null) return this.refuse("", 404, "no such address");
    if (ingest === "unavailable")
      return this.refuse(company, 503, "the mirror is not open; send the delivery again");
    const head = readHead(rawHeaders);
    if ("status" in head) return this.refuse(company, head.status, head.why);
    if (!isTimely(head.timestamp, this.options.clock.nowMs()))
      return this.refuse(company, 401, "webhook-timestamp is not within 300 seconds of now");
    return { company, ingest, head };
  }

  /** Verifies and stores a delivery. Answers later, after the commit; for each company in the order of arrival. */
  deliver({ company, ingest, head }: Admission, body: Buffer, respond: (answer: Answer) => void): void {
    let delivery: Delivery | Answer;
    try {
      delivery = verified(ingest, body, head);
    } catch (error) {
      return respond(this.failed(company, error));
    }
    if ("status" in delivery) return respond(this.refuse(company, delivery.status, delivery.why));
    const added = this.groupOf(company, ingest).add(delivery, body.length, (result, error) =>
      respond(result ? this.accepted(company, result) : this.failed(company, error)),
    );
    if (!added)
      respond(this.refuse(company, 503, "too many deliveries are waiting; send the delivery again"));
  }

  /** Counts and logs a refusal. */
  refuse(company: string, status: number, why: string): Answer {
    this.options.companies.countAnswer(company, String(status));
    const fields = company === "" ? { status, why } : { company, status, why };
    this.logRefusal(`${company} ${status} ${why}`, "a delivery was refused", fields);
    return { status, why };
  }

  private accepted(company: string, { outcome }: StoreResult): Answer {
    this.options.companies.countAnswer(company, countedAs[outcome]);
    return { status: 204, why: "" };
  }

  private failed(company: string, error: unknown): Answer {
    this.logRefusal(`${company} failed`, "events cannot be stored", {
      company,
      error: messageOf(error),
      ...hintOf(error),
    });
    return this.refuse(company, 503, "the event cannot be stored now; send the delivery again");
  }

  private groupOf(company: string, ingest: Ingest): GroupCommit<Delivery, StoreResult> {
    const known = this.groups.get(ingest);
    if (known) return known;
    const { clock, log } = this.options;
    const commit = (deliveries: readonly Delivery[]) => {
      const results = ingest.store(deliveries, clock.nowMs());
      logStored(log, company, results);
      return results;
    };
    const nowMs = () => clock.monotonicMs();
    const group = new GroupCommit({ ...groupLimits, commit, failsForAll: isDatabaseFailure, nowMs });
    this.groups.set(ingest, group);
    return group;
  }
}

/** A key that fails may just have been replaced: the key files are read again before the delivery is refused. */
function verified({ keyring }: Ingest, body: Buffer, { id, signature }: DeliveryHead): Delivery | Answer {
  const matches = () => isSigned(body, signature, keyring.accepted());
  if (matches() || (keyring.refresh() && matches())) return readDelivery(body, id);
  return { status: 401, why: "webhook-signature does not match" };
}

/** A database that is busy or full fails for every delivery alike. */
function isDatabaseFailure(error: unknown): boolean {
  return error instanceof MirrorError && error.retryable;
}
