import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import {
  isRefusal,
  isTimely,
  readDelivery,
  readHead,
  type DeliveryHead,
  type Refusal,
} from "../ingest/delivery.ts";
import type { Delivery } from "../../state/inbox/inbox.ts";
import type { Ingest } from "../ingest/ingest.ts";
import { createCommitter, type Committed } from "./delivery-commit.ts";
import { createRefusalLog } from "./delivery-log.ts";
import { isSigned } from "../ingest/signature.ts";

export interface ReceiverParts {
  /** `closed`: there is such a company, and its mirror cannot be written now. */
  readonly mailbox: (company: string) => Ingest | "closed" | null;
  readonly clock: Clock;
  readonly log: Log;
  /** What each delivery was answered: `stored`, `known`, or a status; the company is "" where none was meant. */
  readonly onResult: (company: string, result: string) => void;
  /** Something new is in the queue or in the inbox. */
  readonly onStored: (company: string) => void;
}

/** `why` is a text of ours: nothing that came is ever repeated. */
export interface Answer {
  readonly status: number;
  readonly why: string;
}

/** A delivery whose headers are in order; its body may come. */
export interface Admission {
  readonly company: string;
  readonly mailbox: Ingest;
  readonly head: DeliveryHead;
}

/** What to answer to deliveries, apart from how they arrive. */
export interface Receiver {
  /** The mailbox of a company; or why there is none. */
  find(company: string): Ingest | "closed" | null;
  /** Judged before a byte of the body is read. */
  admit(company: string, rawHeaders: readonly string[]): Admission | Answer;
  /** Answers later, after the commit; in the order of arrival for each company. */
  deliver(admission: Admission, body: Buffer, answer: (answer: Answer) => void): void;
  /** Counts and tells a refusal that was decided elsewhere. */
  refuse(company: string, status: number, why: string): Answer;
}

const accepted: Answer = { status: 204, why: "" };

/**
 * Guarantee: 204 only after the event is committed, or was long ago (I6). Nothing here throws into the server,
 * and a database that fails costs a 503, so that the service sends the event again.
 */
export function createReceiver(parts: ReceiverParts): Receiver {
  const { clock, log, onResult } = parts;
  const rarely = createRefusalLog(log, clock);
  const commit = createCommitter(parts);

  const refuse = (company: string, status: number, why: string): Answer => {
    onResult(company, String(status));
    const fields = company === "" ? { status, why } : { company, status, why };
    rarely(`${company} ${status} ${why}`, "a delivery was refused", fields);
    return { status, why };
  };
  const answerTo = (company: string, committed: Committed): Answer => {
    if (committed.fate === "full") return refuse(company, 503, "too many deliveries are waiting");
    if (committed.fate === "failed") {
      const error = messageOf(committed.error);
      rarely(`${company} failed`, "events cannot be stored", { company, error });
      return refuse(company, 503, "the event cannot be stored now");
    }
    onResult(company, committed.fate);
    return accepted;
  };

  return {
    find: parts.mailbox,
    refuse,
    admit: (company, rawHeaders) => {
      const mailbox = parts.mailbox(company);
      if (mailbox === null) return refuse("", 404, "there is nothing here");
      if (mailbox === "closed") return refuse(company, 503, "the mirror is closed now");
      const head = readHead(rawHeaders);
      if (isRefusal(head)) return refuse(company, head.status, head.why);
      if (!isTimely(head.timestamp, clock.nowMs()))
        return refuse(company, 401, "webhook-timestamp is not within 300 seconds of now");
      return { company, mailbox, head };
    },
    deliver: ({ company, mailbox, head }, body, answer) => {
      const settled = (committed: Committed) => answer(answerTo(company, committed));
      let delivery: Delivery | Refusal;
      try {
        delivery = judged(mailbox, body, head);
      } catch (error) {
        settled({ fate: "failed", error });
        return;
      }
      if (isRefusal(delivery)) answer(refuse(company, delivery.status, delivery.why));
      else commit(company, mailbox, delivery, body.length, settled);
    },
  };
}

function judged(mailbox: Ingest, body: Buffer, { id, signature }: DeliveryHead): Delivery | Refusal {
  if (!isFrom(mailbox, body, signature)) return { status: 401, why: "webhook-signature does not match" };
  return readDelivery(body, id);
}

function isFrom(mailbox: Ingest, body: Buffer, signature: string): boolean {
  if (isSigned(body, signature, mailbox.secrets())) return true;
  return mailbox.refresh?.() === true && isSigned(body, signature, mailbox.secrets());
}
