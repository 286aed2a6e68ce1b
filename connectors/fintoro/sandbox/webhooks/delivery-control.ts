import { systemClock } from "../../../../src/base/clock.ts";
import type { Company } from "../domain/company-state.ts";
import type { SandboxEvent } from "../model/event-log.ts";
import type { Subscription } from "../model/company-records.ts";
import { Missing } from "../rules/refusals.ts";
import type { Courier } from "./sender.ts";
import type { Attempt } from "./attempts.ts";
import type { PostResult } from "./poster.ts";

/** Deliveries seen from the inside. Without a company: the first one's, or all of them for `pending` and `idle`. */
export interface WebhookControl {
  /** Every attempt so far, oldest first. */
  history(subscription?: number, company?: number): readonly Attempt[];
  /** Deliveries that are neither delivered nor given up, retries included. */
  pending(company?: number): number;
  /**
   * Resolves when nothing is waiting to be sent; rejects after `timeoutMs`. Retries that are due later than
   * `withinMs` (default 1 s) do not count.
   */
  idle(timeoutMs?: number, how?: { readonly withinMs?: number; readonly company?: number }): Promise<void>;
  /** One request, once, right or wrong as told; the answer is the receiver's. */
  send(delivery?: OddDelivery, company?: number): Promise<PostResult>;
}

/** What is left out is as the service would send it. */
interface OddDelivery {
  /** The first active one. */
  readonly subscription?: number;
  readonly url?: string;
  readonly secret?: string;
  readonly event?: Partial<SandboxEvent>;
  /** The body as it goes out, whatever it is; it is what gets signed. */
  readonly body?: string | Buffer;
  /** Over the right ones: null leaves one out, a list sends it several times. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | null>>;
}

export function webhookControlOf(
  companies: readonly Company[],
  couriers: readonly Courier[],
): WebhookControl {
  const chosen = (company?: number) =>
    couriers.filter((_, index) => company === undefined || index === company);
  const pendingWithin = (ms: number, company?: number) =>
    chosen(company).reduce((sum, courier) => sum + courier.pendingWithin(ms), 0);
  return {
    history: (subscription, company = 0) => couriers[company]?.history.list(subscription) ?? [],
    pending: (company) => pendingWithin(Number.POSITIVE_INFINITY, company),
    idle: (timeoutMs = 10_000, { withinMs = 1_000, company } = {}) =>
      idle(
        () => pendingWithin(withinMs, company),
        () => chosen(company).map((courier) => courier.moved()),
        timeoutMs,
      ),
    send: async (delivery = {}, index = 0) => {
      const [company, courier] = [companies[index], couriers[index]];
      if (!company || !courier) throw new Error(`broken promise: the sandbox has a company ${index}`);
      return send(company, courier, delivery);
    },
  };
}

async function idle(pending: () => number, moved: () => Promise<void>[], timeoutMs: number): Promise<void> {
  const end = new AbortController();
  const endsMs = systemClock.monotonicMs() + timeoutMs;
  const deadline = systemClock.sleep(timeoutMs, end.signal);
  try {
    while (pending() > 0) {
      if (systemClock.monotonicMs() >= endsMs)
        throw new Error(`${pending()} deliveries are still waiting after ${timeoutMs} ms`);
      await Promise.race([deadline, ...moved()]);
    }
  } finally {
    end.abort();
  }
}

async function send(company: Company, courier: Courier, odd: OddDelivery): Promise<PostResult> {
  const subscription = subscriptionFor(company, odd);
  const url = odd.url ?? subscription?.url;
  const secret = odd.secret ?? subscription?.secret ?? "";
  if (url === undefined) throw new Missing();
  const event = {
    id: `evt_${company.random.uuid().replaceAll("-", "")}`,
    type: "clients.updated",
    occurredAt: new Date(company.clock.nowMs()).toISOString(),
    resource: { type: "client", id: 1 },
    ...odd.event,
  };
  const body = Buffer.from(odd.body ?? JSON.stringify(event));
  const headers = { ...courier.headersFor(event.id, body, secret), ...odd.headers };
  const sent = Object.entries(headers).filter(
    (entry): entry is [string, string | string[]] => entry[1] !== null,
  );
  return courier.poster.post({ url, headers: Object.fromEntries(sent), body });
}

function subscriptionFor({ tables }: Company, odd: OddDelivery): Subscription | undefined {
  const { webhook_subscriptions: table } = tables;
  if (odd.subscription !== undefined) return table.get(odd.subscription);
  return [...table.values()].find(({ isActive }) => isActive);
}
