import { systemClock } from "../../../src/base/clock.ts";
import { createRateLimiter } from "../../../src/rate-limit/rate-limiter.ts";
import { openBudgetFile } from "../../../src/state/budget-file.ts";
import { get, httpFor } from "../http/http-client.ts";

/** One process of several that ask the same service: `baseUrl path windowMs limit requests`. */
const [baseUrl = "", path = "", windowMs, limit, requests] = process.argv.slice(2);
const store = openBudgetFile({ path, clock: systemClock });
const rules = { windowMs: Number(windowMs), defaultLimit: Number(limit) };
const rateLimiter = createRateLimiter({ store, clock: systemClock, ...rules });
const http = httpFor(baseUrl, { rateLimiter });
await Promise.all(Array.from({ length: Number(requests) }, (_, i) => http.send(get(`/${process.pid}/${i}`))));
process.stdout.write(JSON.stringify(Object.fromEntries(http.stats().byStatus)));
await http.close();
store.close();
