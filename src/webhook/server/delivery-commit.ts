import type { Clock } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import type { Delivery } from "../../state/inbox/inbox.ts";
import { GroupCommit } from "../ingest/group-commit.ts";
import type { Ingest, StoreResult } from "../ingest/ingest.ts";

const groupLimits = { mostItems: 2_000, mostBytes: 16_000_000 };

export interface CommitParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly onStored: (company: string) => void;
}

/** What became of a delivery that was found good. */
export type Committed =
  | { readonly fate: "stored" | "known" }
  | { readonly fate: "full" }
  | { readonly fate: "failed"; readonly error: unknown };

/** Calls `done` after the commit; in the order of arrival for each company. */
export type Committer = (
  company: string,
  mailbox: Ingest,
  delivery: Delivery,
  sizeBytes: number,
  done: (committed: Committed) => void,
) => void;

/** Each company's deliveries in groups of their own: one transaction is one database's. */
export function createCommitter({ clock, log, onStored }: CommitParts): Committer {
  const groups = new WeakMap<Ingest, GroupCommit<Delivery, StoreResult>>();
  const groupOf = (company: string, mailbox: Ingest) => {
    const known = groups.get(mailbox);
    if (known) return known;
    const commit = (deliveries: readonly Delivery[]) => {
      const receipts = mailbox.store(deliveries, clock.nowMs());
      if (receipts.some(({ fate }) => fate === "stored")) onStored(company);
      tell(log, company, receipts);
      return receipts;
    };
    const group = new GroupCommit({ ...groupLimits, commit, isGeneral, nowMs: () => clock.monotonicMs() });
    groups.set(mailbox, group);
    return group;
  };
  return (company, mailbox, delivery, sizeBytes, done) => {
    const added = groupOf(company, mailbox).add(delivery, sizeBytes, (receipt, error) => {
      if (receipt === null) {
        done({ fate: "failed", error });
        return;
      }
      done({ fate: receipt.fate });
    });
    if (!added) done({ fate: "full" });
  };
}

/** A burst is told in one line; each of its events in one of its own only to who debugs. */
const toldOneByOne = 8;

function tell(log: Log, company: string, receipts: readonly StoreResult[]): void {
  const stored = receipts.filter(({ fate }) => fate === "stored");
  const isBurst = stored.length > toldOneByOne;
  for (const receipt of stored) {
    const level = isBurst ? "debug" : isOdd(receipt) ? "warn" : "info";
    log[level]("an event was stored", fieldsOf(company, receipt));
  }
  for (const receipt of receipts)
    if (receipt.fate === "known") log.debug("an event came again", fieldsOf(company, receipt));
  if (!isBurst) return;
  const types = [...new Set(stored.map(({ type }) => type))];
  log.info("events were stored", { company, events: stored.length, first: stored[0]?.eventId, types });
}

/** Kept, and nothing follows from it: somebody should know. */
function isOdd({ state }: StoreResult): boolean {
  return state === "unknown" || state === "unreadable";
}

function fieldsOf(company: string, { eventId, type, resource, id, state }: StoreResult) {
  return { company, webhook_id: eventId, type, resource, id, state };
}

/** A database that is busy or full is so for every delivery. */
function isGeneral(error: unknown): boolean {
  return error instanceof MirrorError && error.retryable;
}
