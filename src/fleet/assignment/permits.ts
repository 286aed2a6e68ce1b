import { eitherSignal } from "../../base/cancellation.ts";
import { MirrorError } from "../../base/errors.ts";
import type { RateLimiter } from "../../rate-limit/permit.ts";
import type { CompanySupervisor } from "../../host/company-supervisor.ts";
import type { ProcessContext } from "../../runs/process-context.ts";
import { pinnedIdentity } from "../../state/meta.ts";
import { whileOwned, type Lease } from "../ownership/ownership.ts";
import { accountOf, type CompaniesTable } from "../postgres/tables/companies-table.ts";
import type { QuietMs } from "../postgres/tables/owners-table.ts";
import { retries } from "../../retry/retry-limits.ts";

const { accountMs } = retries.node;
/** Longer waits are logged. */
const noticedMs = 1_000;
/** For a request that is on its way to the service when its owner's time ends. */
const arrivalMs = 1_000;

/**
 * Leave to send requests for a company, whose budget travels with its ownership. Notes in Postgres which company of the
 * service it is, once the service has said it.
 *
 * Guarantee: a request is sent only while the company is owned, and none before the requests of another owner have left
 * the service's window (I8). Of two tokens of one company of the service one at most sends more than the question whose
 * it is. How many may go is decided by the node's own rate limiter, as in `serve`.
 * Source of truth: tables `owners` and `companies`.
 * Worst outcome of a crash: the next owner waits for a window that was not used.
 *
 * @param account as Postgres knew it when the company was claimed; null: it did not
 */
export function createFleetPermits(
  lease: Lease,
  companies: Pick<CompaniesTable, "setAccount">,
  account: string | null,
  windowMs: number,
  supervisor: () => Pick<CompanySupervisor, "opened" | "settings">,
  { clock, log }: Pick<ProcessContext, "clock" | "log">,
) {
  let rival: string | null = null;
  /** Monotonic: until then the window counts as spent. */
  let spentUntilMs = 0;
  let noting: Promise<boolean> | null = null;
  const waitForOthers = (quietMs: QuietMs) => {
    const waitMs = windowMs + arrivalMs - (quietMs ?? Infinity);
    spentUntilMs = Math.max(spentUntilMs, clock.monotonicMs() + waitMs);
    const what = "requests wait until those of the owner before have left the service's window";
    if (waitMs > noticedMs) log.info(what, { wait_ms: Math.round(waitMs) });
  };
  const noteAccount = async (): Promise<boolean> => {
    const { opened, settings } = supervisor();
    const pinned = opened && pinnedIdentity(opened.mirror.meta);
    if (!pinned) return true;
    const found = accountOf(settings.config.baseUrl, pinned.name);
    if (found === account) return true;
    const use = await whileOwned(lease, () => companies.setAccount(lease, found));
    if (use) ({ rival } = use);
    if (!use || rival !== null) return false;
    account = found;
    waitForOthers(use.quietMs);
    return true;
  };
  const isAccountNoted = () => (noting ??= noteAccount().finally(() => (noting = null)));
  waitForOthers(lease.quietMs);
  return {
    /** Another company of the account, which was owned when this one was to be noted; null: none was. */
    rival: () => rival,
    /** Is it noted, as the service said it? One statement at a time for all. False also while Postgres is away. */
    isAccountNoted,
    assertMaySend: () => lease.noteRequest(),
    guard: (rateLimiter: RateLimiter): RateLimiter => ({
      view: () => rateLimiter.view(),
      admit: async (lane, signal) => {
        // Until Postgres knows the account of two companies, each of them has a budget of its own.
        for (;;) {
          const waitMs = (await isAccountNoted()) ? spentUntilMs - clock.monotonicMs() : accountMs;
          lease.assertHeld();
          if (signal?.aborted)
            throw new MirrorError("stopped", "stopped while waiting for leave to send a request");
          if (waitMs <= 0) return rateLimiter.admit(lane, signal);
          await clock.sleep(waitMs, eitherSignal(lease.lost, signal));
        }
      },
    }),
  };
}
