import { systemClock } from "../../../src/base/clock.ts";
import type { Log, LogFields } from "../../../src/base/logger.ts";
import { seededRandom } from "../seeded-random.ts";
import type { ServiceRequest } from "../../../src/connector/transport.ts";
import type { BudgetHeaders, RateLimiter } from "../../../src/rate-limit/permit.ts";
import {
  createHttpTransport,
  type HttpOptions,
  type HttpTransport,
} from "../../../src/http/http-transport.ts";

/** Gives every permit at once, and keeps what it was reported. */
export function lenientRateLimiter() {
  const reports: { status: number; headers: BudgetHeaders }[] = [];
  const lanes: string[] = [];
  const counts = { open: 0, lost: 0, late: 0 };
  const admit: RateLimiter["admit"] = async (lane) => {
    lanes.push(lane);
    counts.open++;
    return {
      answered: (status, headers) => {
        counts.open--;
        reports.push({ status, headers });
      },
      lost: (mayArrive) => {
        counts.open--;
        counts.lost++;
        if (mayArrive) counts.late++;
      },
    };
  };
  return {
    reports,
    lanes,
    /** Permits given and not finished. */
    open: () => counts.open,
    lost: () => counts.lost,
    /** Of the lost ones those that the service may count later. */
    mayArrive: () => counts.late,
    admit,
    view: () => ({ limit: null, granted: 120, remaining: null, waitMs: 0 }),
  };
}

/** A log that keeps what it is given; `recordingLog` of terminals also writes it as the program does. */
export function stubLog() {
  const lines: { level: keyof Log; message: string; fields: LogFields }[] = [];
  const at =
    (level: keyof Log) =>
    (message: string, fields: LogFields = {}) =>
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
    log: stubLog(),
    userAgent: "fintoro-mirror/test",
    backoff: { baseMs: 2, maxMs: 10 },
    timeoutMs: 5_000,
    ...options,
  });
}

export function get(path: string, more: Partial<ServiceRequest> = {}): ServiceRequest {
  return { method: "GET", path, expect: "json", ...more };
}
