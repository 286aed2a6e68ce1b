import { createClient, type FintoroClient } from "../connectors/fintoro/client/client.ts";
import { declaration } from "../connectors/fintoro/declaration.ts";
import { systemClock } from "./base/clock.ts";
import { MirrorError } from "./base/errors.ts";
import { silentLog, type Log } from "./base/logger.ts";
import { systemRandom } from "./base/random.ts";
import { createRateLimiter } from "./rate-limit/rate-limiter.ts";
import { openBudgetFile } from "./state/budget-file.ts";
import { createMemoryRateLimitStore } from "./rate-limit/state.ts";
import { parseBaseUrl } from "./http/base-url.ts";
import { createHttpTransport } from "./http/http-transport.ts";

export interface ConnectOptions {
  readonly token: string;
  /** @default the published address */
  readonly baseUrl?: string;
  readonly language?: string;
  /**
   * A mirror's `<data_dir>/<company>.budget.db`, to share its request budget. Without it this process knows of
   * others only what the service reports.
   */
  readonly budgetFile?: string;
  readonly log?: Log;
}

export interface Connection {
  readonly client: FintoroClient;
  close(): Promise<void>;
}

/** Opens the typed client. Throws MirrorError `usage` for an unusable token, `config` for the base URL. */
export function connect(options: ConnectOptions): Connection {
  const { token, baseUrl = declaration.baseUrl, language = "en", log = silentLog, budgetFile } = options;
  assertToken(token);
  parseBaseUrl(baseUrl);
  const parts = { clock: systemClock, log };
  const limits = { ...parts, windowMs: declaration.limits.windowMs };
  const store =
    budgetFile === undefined ? createMemoryRateLimitStore() : openBudgetFile({ path: budgetFile, ...limits });
  const rateLimiter = createRateLimiter({ store, ...limits });
  const transport = createHttpTransport({
    baseUrl,
    token,
    language,
    rateLimiter,
    random: systemRandom,
    userAgent: "fintoro-mirror",
    ...parts,
  });
  return {
    client: createClient(transport),
    close: async () => {
      await transport.close();
      store.close();
    },
  };
}

/** Before the first request, and before a file is opened that nobody would close. */
function assertToken(token: unknown): void {
  if (typeof token === "string" && /^[\x21-\x7e]+$/.test(token)) return;
  throw new MirrorError("usage", "connect: the token is missing or has characters that no token has", {
    hint: "Give it as the service shows it, without spaces and line ends.",
  });
}
