import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { CompanyConfig, Config } from "../../config/config.ts";
import { secretTexts } from "../../config/companies.ts";
import { mirrorFiles } from "../../config/mirror-files.ts";
import { createRateLimiter } from "../../rate-limit/rate-limiter.ts";
import { limitRequests, type RequestLimits } from "../../rate-limit/rate-limiter.ts";
import type { RateLimiter } from "../../rate-limit/permit.ts";
import { openBudgetFile } from "../../rate-limit/budget-file.ts";
import { createMemoryRateLimitStore } from "../../rate-limit/state-store.ts";
import { createHttpTransport, type HttpTransport } from "../../http/http-transport.ts";

/** What of the world a way to the service is made from. */
export interface ServiceParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Of this program. */
  readonly version: string;
}

/** The way to the service for one company: every request of it asks the same rate limiter. */
export interface Service {
  readonly transport: HttpTransport;
  readonly rateLimiter: RateLimiter;
  /** Another way to the same service on the same budget, with limits of its own; whoever asks for it closes it. */
  limited(gate: RequestLimits): HttpTransport;
  close(): Promise<void>;
}

export interface ServiceOptions {
  readonly attempts?: number;
  /** `memory`: for this process alone, where the data folder cannot be written. */
  readonly budget?: "file" | "memory";
  /** Events are received: a share of each window is kept for them. */
  readonly events?: boolean;
  /** Limits of this run on top of the budget. */
  readonly gate?: RequestLimits;
}

export function connectService(
  parts: ServiceParts,
  config: Config,
  company: CompanyConfig,
  { attempts, budget = "file", events = false, gate = {} }: ServiceOptions = {},
): Service {
  const { clock, random, log, version } = parts;
  const path = mirrorFiles(config, company.name).budget;
  const store = budget === "memory" ? createMemoryRateLimitStore() : openBudgetFile({ path, clock, log });
  const shared = createRateLimiter({
    store,
    clock,
    log,
    reserveShare: config.rateLimit.reserveShare,
    eventShare: events ? config.rateLimit.reserveShare : 0,
    windowMs: config.rateLimit.windowMs,
    concurrency: config.http.concurrency,
    permitMs: config.http.timeoutMs + permitMarginMs,
  });
  const http = {
    ...config.http,
    ...(attempts === undefined ? {} : { attempts }),
    baseUrl: config.baseUrl,
    token: company.token.reveal(),
    language: config.language,
    userAgent: `fintoro-mirror/${version}`,
    secrets: secretTexts(config),
    clock,
    random,
    log,
  };
  const rateLimiter = limitRequests(shared, gate);
  const transport = createHttpTransport({ ...http, rateLimiter });
  const close = async () => {
    await transport.close();
    store.close();
  };
  const limited = (limits: RequestLimits) =>
    createHttpTransport({ ...http, rateLimiter: limitRequests(shared, limits) });
  return { transport, rateLimiter, limited, close };
}

/** A permit outlives the attempt it was given for. */
const permitMarginMs = 30_000;
