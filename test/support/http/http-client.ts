import { systemClock, type Clock } from "../../../src/base/clock.ts";
import type { Log, LogFields } from "../../../src/base/logger.ts";
import { seededRandom } from "../seeded-random.ts";
import type { ServiceRequest } from "../../../src/connector/transport.ts";
import { createRateLimiter } from "../../../src/rate-limit/rate-limiter.ts";
import type { BudgetHeaders, RateLimiter } from "../../../src/rate-limit/permit.ts";
import { createMemoryRateLimitStore } from "../../../src/rate-limit/state.ts";
import {
  createHttpTransport,
  type HttpOptions,
  type HttpTransport,
} from "../../../src/http/http-transport.ts";

/** Gives every permit at once, and keeps what it was reported. */
export interface LenientRateLimiter extends RateLimiter {
  readonly reports: { status: number; headers: BudgetHeaders }[];
  readonly lanes: string[];
  /** Permits given and not finished. */
  open(): number;
  lost(): number;
  /** Of the lost ones those that the service may count later. */
  mayArrive(): number;
}

export function lenientRateLimiter(): LenientRateLimiter {
  const reports: LenientRateLimiter["reports"] = [];
  const lanes: string[] = [];
  let open = 0;
  let lost = 0;
  let late = 0;
  return {
    reports,
    lanes,
    open: () => open,
    lost: () => lost,
    mayArrive: () => late,
    admit: (lane) => {
      lanes.push(lane);
      open++;
      return Promise.resolve({
        answered: (status, headers) => {
          open--;
          reports.push({ status, headers });
        },
        lost: (mayArrive) => {
          open--;
          lost++;
          if (mayArrive) late++;
        },
      });
    },
    view: () => ({ limit: null, granted: 120, remaining: null, waitMs: 0 }),
  };
}

export interface LoggedLine {
  readonly level: keyof Log;
  readonly message: string;
  readonly fields: LogFields | undefined;
}

export function recordingLog(): Log & { readonly lines: LoggedLine[] } {
  const lines: LoggedLine[] = [];
  const at = (level: keyof Log) => (message: string, fields?: LogFields) =>
    void lines.push({ level, message, fields });
  return { lines, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

export const testToken = "17|s3cret/token+with=odd chars";

/** A transport with a seed, short pauses and a rate limiter that says yes. */
export function httpFor(baseUrl: string, options: Partial<HttpOptions> = {}): HttpTransport {
  return createHttpTransport({
    baseUrl,
    token: testToken,
    language: "en",
    rateLimiter: lenientRateLimiter(),
    clock: systemClock,
    random: seededRandom(1),
    log: recordingLog(),
    userAgent: "fintoro-mirror/test",
    backoff: { baseMs: 2, maxMs: 10 },
    timeoutMs: 5_000,
    ...options,
  });
}

export function realRateLimiter(
  clock: Clock,
  options: { windowMs: number; defaultLimit: number },
): RateLimiter {
  return createRateLimiter({ store: createMemoryRateLimitStore(), clock, ...options });
}

export function get(path: string, more: Partial<ServiceRequest> = {}): ServiceRequest {
  return { method: "GET", path, expect: "json", ...more };
}
