import { systemClock } from "../../../../src/base/clock.ts";
import type { Company } from "../domain/company-state.ts";
import type { SandboxEvent } from "../model/event-log.ts";
import { Missing } from "../rules/problems.ts";
import type { PostResult } from "./poster.ts";
import type { Sender } from "./sender.ts";

/** What is left out is as the service would send it. */
interface OddDelivery {
  /** The first active one. */
  readonly subscription?: number;
  readonly url?: string;
  readonly secret?: string;
  readonly event?: Partial<SandboxEvent>;
  /** The body as it is sent, whatever it is; it is what gets signed. */
  readonly body?: string | Buffer;
  /** Over the right ones: null omits one, a list sends it several times. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | null>>;
}

/** A company with the sender of its events. */
export interface SendingCompany {
  readonly company: Company;
  readonly sender: Sender;
}

/**
 * Deliveries seen from the inside. Without an index: the first company's, or all of them for `pending` and
 * `idle`.
 *
 * @param at gives a company by its index, or throws
 * @param chosen gives the company of an index, or all of them
 */
export function webhookControlOf(
  at: (index?: number) => SendingCompany,
  chosen: (index?: number) => readonly SendingCompany[],
) {
  const pendingWithin = (ms: number, index?: number) =>
    chosen(index).reduce((sum, { sender }) => sum + sender.pendingWithin(ms), 0);
  return {
    /** Every attempt so far, oldest first. */
    history: (subscription?: number, index?: number) =>
      at(index)
        .sender.attempts.list()
        .filter((one) => subscription === undefined || one.subscription === subscription),
    /** Deliveries that are neither delivered nor given up, retries included. */
    pending: (index?: number) => pendingWithin(Number.POSITIVE_INFINITY, index),
    /**
     * Resolves when nothing waits to be sent; rejects after `timeoutMs`. Retries that are due later than
     * `withinMs` do not count.
     */
    idle: async (timeoutMs = 10_000, { withinMs = 1_000, company }: IdleOptions = {}) => {
      const end = new AbortController();
      const endsMs = systemClock.monotonicMs() + timeoutMs;
      const deadline = systemClock.sleep(timeoutMs, end.signal);
      for (let count; (count = pendingWithin(withinMs, company)) > 0;) {
        if (systemClock.monotonicMs() >= endsMs)
          throw new Error(`${count} deliveries are still waiting after ${timeoutMs} ms`);
        await Promise.race([deadline, ...chosen(company).map(({ sender }) => sender.nextAttempt())]);
      }
      end.abort();
    },
    /** Sends one request, once, right or wrong as asked; gives the receiver's answer. */
    send: async (delivery: OddDelivery = {}, index?: number) => sendOdd(at(index), delivery),
  };
}

interface IdleOptions {
  readonly withinMs?: number;
  readonly company?: number;
}

async function sendOdd({ company, sender }: SendingCompany, odd: OddDelivery): Promise<PostResult> {
  const { webhook_subscriptions: subscriptions } = company.tables;
  const subscription =
    odd.subscription === undefined
      ? [...subscriptions.values()].find(({ isActive }) => isActive)
      : subscriptions.get(odd.subscription);
  const url = odd.url ?? subscription?.url;
  if (url === undefined) throw new Missing();
  const event = {
    id: `evt_${company.random.uuid().replaceAll("-", "")}`,
    type: "clients.updated",
    occurredAt: new Date(company.clock.nowMs()).toISOString(),
    resource: { type: "client", id: 1 },
    ...odd.event,
  };
  const body = Buffer.from(odd.body ?? JSON.stringify(event));
  const signed = sender.headersFor(event.id, body, odd.secret ?? subscription?.secret ?? "");
  const headers = Object.entries({ ...signed, ...odd.headers }).filter(
    (entry): entry is [string, string | string[]] => entry[1] !== null,
  );
  return sender.poster.post({ url, headers: Object.fromEntries(headers), body });
}
