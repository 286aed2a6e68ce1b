import { createHash } from "node:crypto";
import { systemClock } from "../../../src/base/clock.ts";
import { systemRandom } from "../../../src/base/random.ts";
import { controlOf, type Control } from "./control.ts";
import type { Company } from "./domain/company-state.ts";
import { FaultPlan } from "./faults/plan.ts";
import { dateOf, localDay } from "./base/calendar.ts";
import { documentCount, type SandboxOptions } from "./options.ts";
import { seedCompany } from "./seed/seed-company.ts";
import { planOf } from "./seed/seed-plan.ts";
import { Limiter } from "./service/limiter.ts";
import type { RequestLog } from "./service/request-log.ts";
import { basePath } from "./service/requests.ts";
import { Router } from "./service/route.ts";
import { allRoutes } from "./service/routes/all.ts";
import { Service } from "./service/service.ts";
import { sideDoorTo } from "./side-door.ts";
import { Tokens } from "./service/tokens.ts";
import { Courier } from "./webhooks/courier.ts";
import { subscribeAtStart } from "./webhooks/at-start.ts";

interface SandboxCompany {
  readonly name: string;
  /** May write. */
  readonly token: string;
  readonly readToken: string;
}

/** A running stand-in for the service. Everything in it is made up, and it forgets all when it ends. */
export interface Sandbox {
  /** `http://127.0.0.1:PORT/api/public/v1` */
  readonly url: string;
  readonly port: number;
  /** The first company's. */
  readonly token: string;
  readonly readToken: string;
  readonly companies: readonly SandboxCompany[];
  /** Of the subscriptions that were asked for at the start, in their order. */
  readonly webhookSecrets: readonly string[];
  /** The last 20,000 requests, oldest first. */
  requests(): readonly RequestLog[];
  readonly control: Control;
  close(): Promise<void>;
}

/** An origin that no name server knows: whoever follows a link out of an answer notices at once. */
const publicOrigin = "https://app.fintoro.example";

export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const companies = companiesOf(options);
  const tokens = new Tokens();
  const cards = companies.map((company) => grant(tokens, company, options.seed ?? 1));
  const parts = partsOf(options, companies, tokens);
  const service = new Service(parts);
  const webhookSecrets = subscribeAtStart(companies[0], options.webhooks ?? [], options.seed ?? 1);
  const port = await service.listen(options.port ?? 0);
  const couriers = couriersOf(options, companies, service.failures);
  for (const { settings } of companies) settings.stocksInLists = options.stocksInLists ?? true;
  if (options.publicOrigin === "self") {
    for (const { settings } of companies) settings.publicOrigin = `http://127.0.0.1:${port}`;
  }
  const closing = new AbortController();
  const { seed = 1 } = options;
  const control = controlOf({
    ...parts,
    companies,
    couriers,
    seed,
    closing: closing.signal,
    failures: service.failures,
  });
  service.sideDoor = sideDoorTo(control);
  const first = cards[0] ?? { name: "", token: "", readToken: "" };
  return {
    url: `http://127.0.0.1:${port}${basePath}`,
    port,
    token: first.token,
    readToken: first.readToken,
    companies: cards,
    webhookSecrets,
    requests: () => service.requests.list(),
    control,
    close: () => {
      closing.abort();
      for (const courier of couriers) courier.close();
      return service.close();
    },
  };
}

function companiesOf(options: SandboxOptions): Company[] {
  const { clock = systemClock, random = systemRandom, companies = 1, seed = 1, records = "small" } = options;
  const { publicOrigin: origin = publicOrigin, stocksInLists = true } = options;
  const { today = dateOf(localDay(clock.nowMs())) } = options;
  const { allowLoopbackWebhooks = options.webhooks !== undefined } = options;
  return Array.from({ length: companies }, (_, index) => {
    const plan = planOf({ seed, today, documents: documentCount(records), index, publicOrigin: origin });
    const settings = { today: plan.today, publicOrigin: origin, allowLoopbackWebhooks, stocksInLists };
    return seedCompany(plan, { clock, random, settings });
  });
}

/** Tokens hang on the seed, so that a sandbox started again knows its clients. */
function grant(tokens: Tokens, company: Company, seed: number): SandboxCompany {
  const tokenFor = (scope: string) => {
    const digest = createHash("sha256").update(`${seed}/${company.index}/${scope}`).digest("hex");
    return `${company.index + 1}|sandbox${scope}${digest.slice(0, 32)}`;
  };
  const card = { name: company.settings.name, token: tokenFor("write"), readToken: tokenFor("read") };
  tokens.grant(card.token, company, "write");
  tokens.grant(card.readToken, company, "read");
  return card;
}

function couriersOf(
  options: SandboxOptions,
  companies: readonly Company[],
  failures: unknown[],
): readonly Courier[] {
  const { seed = 1, deliveries: shares = {}, clock = systemClock, retryScale = 1 } = options;
  const { deliveryTimeoutMs: timeoutMs = 10_000, deliveryConcurrency: concurrency = 8 } = options;
  const onBug = (cause: unknown) => void failures.push(cause);
  const rest = { shares, clock, retryScale, timeoutMs, concurrency, onBug };
  return companies.map((company) => new Courier(company, { seed: seed + company.index, ...rest }));
}

function partsOf(options: SandboxOptions, companies: readonly Company[], tokens: Tokens) {
  const { clock = systemClock, random = systemRandom, latencyMs = 0 } = options;
  const { limit = 120, windowMs = 60_000, limiter: kind = "fixed" } = options;
  return {
    router: new Router(allRoutes()),
    tokens,
    limiters: companies.map(() => new Limiter(clock, { kind, limit, windowMs })),
    faults: new FaultPlan(random, options.faults ?? []),
    clock,
    random,
    language: options.language ?? "en",
    latencyMs: typeof latencyMs === "number" ? ([latencyMs, latencyMs] as const) : latencyMs,
  };
}
