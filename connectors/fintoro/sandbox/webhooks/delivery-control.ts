import { systemClock } from "../../../../src/base/clock.ts";
import type { Company } from "../domain/company-state.ts";
import type { SandboxEvent } from "../model/event-log.ts";
import { Missing } from "../rules/refusals.ts";
import type { PostResult } from "./poster.ts";
import type { Attempt, Sender } from "./sender.ts";

/** Deliveries seen from the inside. Without a company: the first one's, or all of them for `pending` and `idle`. */
export interface WebhookControl {
  /** Every attempt so far, oldest first. */
  history(subscription?: number, company?: number): readonly Attempt[];
  /** Deliveries that are neither delivered nor given up, retries included. */
  pending(company?: number): number;
  /**
   * Resolves when nothing waits to be sent; rejects after `timeoutMs`. Retries that are due later than
   * `withinMs` (default 1 s) do not count.
   */
  idle(timeoutMs?: number, how?: { readonly withinMs?: number; readonly company?: number }): Promise<void>;
  /** Sends one request, once, right or wrong as asked; gives the receiver's answer. */
  send(delivery?: OddDelivery, company?: number): Promise<PostResult>;
}

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

/** @param at gives a company by its index, or throws */
export function webhookControlOf(
  companies: readonly SendingCompany[],
  at: (index: number) => SendingCompany,
): WebhookControl {
  const chosen = (index?: number) => (index === undefined ? companies : [at(index)]);
  const pendingWithin = (ms: number, index?: number) =>
    chosen(index).reduce((sum, { sender }) => sum + sender.pendingWithin(ms), 0);
  return {
    history: (subscription, index = 0) => {
      const all = at(index).sender.attempts.list();
      return subscription === undefined ? all : all.filter((one) => one.subscription === subscription);
    },
    pending: (index) => pendingWithin(Number.POSITIVE_INFINITY, index),
    idle: async (timeoutMs = 10_000, { withinMs = 1_000, company } = {}) => {
      const end = new AbortController();
      const endsMs = systemClock.monotonicMs() + timeoutMs;
      const deadline = systemClock.sleep(timeoutMs, end.signal);
      while (pendingWithin(withinMs, company) > 0) {
        if (systemClock.monotonicMs() >= endsMs)
          throw new Error(
            `${pendingWithin(withinMs, company)} deliveries are still waiting after ${timeoutMs} ms`,
          );
        await Promise.race([deadline, ...chosen(company).map(({ sender }) => sender.nextAttempt())]);
      }
      end.abort();
    },
    send: (delivery = {}, index = 0) => sendOdd(at(index), delivery),
  };
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
