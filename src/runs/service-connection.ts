import { MirrorError } from "../base/errors.ts";
import type { CompanyConfig } from "../config/config.ts";
import { secretTexts } from "../config/companies.ts";
import { accessTokenFile, type CompanySettings } from "../store/mirror-files.ts";
import { accountPath, type Protocol } from "../connector/service-protocol.ts";
import { valueOf } from "../json/cut.ts";
import { limitMonth, monthAt, quotaOf, type CountedQuota } from "../rate-limit/monthly-quota.ts";
import { createAccessTokens } from "../http/access-tokens.ts";
import { createRateLimiter, limitRequests, type RequestLimits } from "../rate-limit/rate-limiter.ts";
import type { RateLimiter } from "../rate-limit/permit.ts";
import { openBudgetFile } from "../state/budget-file.ts";
import { createMemoryRateLimitStore } from "../rate-limit/state.ts";
import { createClockSkew } from "../http/clock-skew.ts";
import { createHttpTransport, type HttpTransport } from "../http/http-transport.ts";
import { HttpCounters } from "../http/exchange.ts";
import type { ProcessContext } from "./process-context.ts";

/** One company's connection to the service. All its requests share one rate limiter. */
export type ServiceConnection = ReturnType<typeof connectService>;

interface ServiceOptions {
  readonly attempts?: number;
  /** `memory`: for a data folder that cannot be written. @default file */
  readonly budget?: "file" | "memory";
  /** Events are received: a share of each window is kept for them. @default false */
  readonly events?: boolean;
  /** Of this connection's own transport, in addition to the budget. */
  readonly limits?: RequestLimits;
  /** For the event worker: its requests fail while the token is missing, and wait past a month's quota. @default false */
  readonly forEventWorker?: boolean;
}

/** Who decides on requests besides the rate limiter: what several processes share. */
export interface RequestGuard {
  /** The same rate limiter; its permits need leave from elsewhere, too. */
  guard(rateLimiter: RateLimiter): RateLimiter;
  /** Called in the step that sends a request: throws a MirrorError where none may be sent any more. */
  assertMaySend(): void;
}

type ServedCompany = Omit<CompanySettings, "resources"> & { readonly guard?: RequestGuard | undefined };

/** A permit stays valid for this much longer than the attempt it was given for. */
const permitMarginMs = 30_000;

/**
 * Opens a company's connection to the service; sends nothing. Without a `guard` nobody else is asked.
 * @throws MirrorError `config` where the token is missing, unless `forEventWorker`
 */
export function connectService(
  { clock, random, log, version }: ProcessContext,
  { declaration, config, company, files, guard }: ServedCompany,
  { attempts, budget = "file", events = false, limits = {}, forEventWorker = false }: ServiceOptions = {},
) {
  const { protocol = {}, limits: stated } = declaration;
  const { baseUrl, language, http } = config;
  const { reserveShare, windowMs } = config.rateLimit;
  const { known } = company.token;
  const token = known || !forEventWorker ? company.token.reveal() : "";
  const counted = budget === "memory" ? null : openBudgetFile({ path: files.budget, clock, log, windowMs });
  const store = counted ?? createMemoryRateLimitStore();
  const shared = createRateLimiter({
    store,
    clock,
    log,
    defaultLimit: stated.requests,
    reserveShare,
    eventShare: events ? reserveShare : 0,
    windowMs,
    concurrency: http.concurrency,
    permitMs: http.timeoutMs + permitMarginMs,
  });
  const quota = counted && quotaOf(protocol.monthlyQuota, config.rateLimit, counted, clock);
  const guarded = guard?.guard(shared) ?? shared;
  const monthly = quota ? limitMonth(guarded, quota, log) : () => guarded;
  const rateLimiter = limitRequests(monthly(forEventWorker), limits);
  const skew = createClockSkew(clock);
  const tokenFile = budget === "memory" ? null : accessTokenFile(config, token);
  const contact = company.contact === null ? "" : ` (${company.contact})`;
  const open = (limiter: RateLimiter) => {
    if (!known) return transportWithoutToken(company);
    // Each shares tokens through the file alone: one that waits for the next month to ask for one holds up no other.
    const hasAccess = protocol.access?.kind === "client_credentials";
    const accessTokens = hasAccess ? createAccessTokens(token, tokenFile, clock, log) : null;
    const made = createHttpTransport({
      ...http,
      ...(attempts !== undefined && { attempts }),
      token,
      userAgent: `fintoro-mirror/${version}${contact}`,
      protocol,
      pathPrefix: accountPath(protocol.access, company.account),
      accessTokens,
      baseUrl,
      language,
      secrets: secretTexts(config),
      clock,
      random,
      log,
      skew,
      rateLimiter: limiter,
      assertMaySend: guard && (() => guard.assertMaySend()),
    });
    return quota ? notingQuota(made, protocol, quota) : made;
  };
  const transport = open(rateLimiter);
  return {
    transport,
    rateLimiter,
    skew,
    /** Another transport on the same budget, with limits of its own; the caller closes it. */
    limited: (more: RequestLimits) => open(limitRequests(monthly(false), more)),
    [Symbol.asyncDispose]: async () => {
      await transport.close();
      store.close();
    },
  };
}

/** The same transport; it notes what the service says of the month's calls. */
function notingQuota(
  transport: HttpTransport,
  { monthlyQuota }: Protocol,
  { store, clock }: CountedQuota,
): HttpTransport {
  const { stated } = monthlyQuota ?? {};
  if (!stated) return transport;
  return {
    ...transport,
    send: async (request) => {
      const answer = await transport.send(request);
      if (request.path !== stated.path) return answer;
      const [limit, used] = [stated.limitField, stated.usedField].map((field) => {
        const number = Number(valueOf(answer.body, field)?.toString() ?? NaN);
        return Number.isSafeInteger(number) && number >= 0 ? number : null;
      });
      const nowMs = clock.nowMs();
      // On the first day the service, by its own clock and zone, may still count the month before.
      const isCertain = new Date(nowMs).getUTCDate() > 1;
      if (limit) store.noteMonth(monthAt(nowMs), { used: isCertain ? (used ?? 0) : 0, limit });
      return answer;
    },
  };
}

/** Sends nothing: every request fails with the reason why there is no token. */
function transportWithoutToken({ token }: CompanyConfig): HttpTransport {
  const hint = "A secret in a file is used as soon as the file is there; a variable needs a restart.";
  return {
    send: () => Promise.reject(new MirrorError("unauthenticated", token.problem ?? "", { hint })),
    stats: () => new HttpCounters(),
    close: () => Promise.resolve(),
  };
}
