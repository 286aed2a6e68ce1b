import type { Clock } from "../base/clock.ts";
import { MirrorError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Delivery } from "./delivery.ts";
import { Group } from "./group.ts";
import type { Mailbox, Receipt } from "./mailbox.ts";

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
  mailbox: Mailbox,
  delivery: Delivery,
  sizeBytes: number,
  done: (committed: Committed) => void,
) => void;

/** Each company's deliveries in groups of their own: one transaction is one database's. */
export function createCommitter({ clock, log, onStored }: CommitParts): Committer {
  const groups = new WeakMap<Mailbox, Group<Delivery, Receipt>>();
  const groupOf = (company: string, mailbox: Mailbox) => {
    const known = groups.get(mailbox);
    if (known) return known;
    const commit = (deliveries: readonly Delivery[]) => {
      const receipts = mailbox.take(deliveries, clock.nowMs());
      if (receipts.some(({ fate }) => fate === "stored")) onStored(company);
      return receipts;
    };
    const group = new Group({ ...groupLimits, commit, isGeneral, nowMs: () => clock.monotonicMs() });
    groups.set(mailbox, group);
    return group;
  };
  return (company, mailbox, delivery, sizeBytes, done) => {
    const added = groupOf(company, mailbox).add(delivery, sizeBytes, (receipt, error) => {
      if (receipt === null) {
        done({ fate: "failed", error });
        return;
      }
      tell(log, company, receipt);
      done({ fate: receipt.fate });
    });
    if (!added) done({ fate: "full" });
  };
}

function tell(log: Log, company: string, { eventId, fate, type, resource, id, state }: Receipt): void {
  const fields = { company, webhook_id: eventId, type, resource, id, state };
  if (fate === "stored") log.info("an event was stored", fields);
  else log.debug("an event came again", fields);
}

/** A database that is busy or full is so for every delivery. */
function isGeneral(error: unknown): boolean {
  return error instanceof MirrorError && error.retryable;
}
