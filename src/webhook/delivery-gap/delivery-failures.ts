import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/logger.ts";
import { messageOf } from "../../base/errors.ts";
import type { CompanyConfig } from "../../config/config.ts";
import type { Subscription } from "../subscriptions/subscription-client.ts";
import { deliversHere, failedAtMs } from "../subscriptions/subscription-problems.ts";
import type { DeliveryVerdict, RefusalWatch } from "./refusal-watch.ts";

/** The service's stamps are of whole seconds, and its clock is known to about one. */
const stampMs = 3_000;

/**
 * Pure: did deliveries of the service to this company's receiver fail since a moment of the service's clock? Its subscriptions show when one failed last
 * (published reference). Where none of them leads here, a failure of any counts; without one, refusals are strange until
 * a delivery was accepted.
 */
export function deliveryVerdict(
  subscriptions: readonly Subscription[],
  company: CompanyConfig,
  { sinceMs, everAccepted }: { readonly sinceMs: number; readonly everAccepted: boolean },
): DeliveryVerdict {
  const here = subscriptions.filter(({ url }) => deliversHere(url, company));
  const asked = here.length > 0 ? here : subscriptions;
  if (asked.some((one) => (failedAtMs(one) ?? -Infinity) >= sinceMs - stampMs)) return "failed";
  return here.length > 0 || everAccepted ? "fine" : "unknown";
}

const lookEveryMs = 1_000;
/** A service that is away says nothing. */
const answerLimitMs = 10_000;

/**
 * Asks the service about refused deliveries, until `closed`: at once, and then a few times an hour. Never rejects.
 *
 * @param list gives the company's subscriptions; null: the service has none
 * @param skewMs by how much this clock is ahead of the service's; null: not known
 */
export async function askAboutRefusals(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  refusals: RefusalWatch,
  company: CompanyConfig,
  list: ((signal: AbortSignal) => Promise<readonly Subscription[]>) | null,
  skewMs: () => number | null,
  closed: AbortSignal,
): Promise<void> {
  const read = async (atMs: number, everAccepted: boolean): Promise<DeliveryVerdict> => {
    if (list === null) return "unknown";
    try {
      const all = await list(AbortSignal.any([closed, AbortSignal.timeout(answerLimitMs)]));
      return deliveryVerdict(all, company, { sinceMs: atMs - (skewMs() ?? 0), everAccepted });
    } catch (error) {
      log.debug("the service does not say whether its deliveries failed", { error: messageOf(error) });
      return "unknown";
    }
  };
  for (; !closed.aborted; await clock.sleep(lookEveryMs, closed)) await refusals.ask(read);
}
