import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { systemClock } from "../../../src/base/clock.ts";
import { MirrorError } from "../../../src/base/errors.ts";
import { systemRandom } from "../../../src/base/random.ts";
import { dateOf, localDay } from "./base/calendar.ts";
import { controlServerOf } from "./control-server.ts";
import { controlOf, type OpenCompany } from "./control.ts";
import { FaultPlan } from "./faults/service-fault.ts";
import { basePath } from "./http/request.ts";
import { routerOf, type Router } from "./http/router.ts";
import { english, languageNamed } from "./lookups/languages.ts";
import { eventTypes } from "./model/catalogue.ts";
import { openCompany, type Company } from "./model/company-state.ts";
import { subscriptions } from "./collections/own-settings.ts";
import { allRoutes } from "./routes/all-routes.ts";
import { errorMap, Invalid } from "./rules/problems.ts";
import { documentCount, type FirstSubscription, type SandboxOptions } from "./sandbox-options.ts";
import { seedDocuments, seedPayments } from "./seed/document-seed.ts";
import { companySnapshot, Past, planOf } from "./seed/seed-plan.ts";
import { seedActivities, seedBasics } from "./seed/seed-records.ts";
import { Limiter } from "./service/limiter.ts";
import { Service, type Bearer, type ServiceParts } from "./service/http-service.ts";
import { Sender } from "./webhooks/sender.ts";

/** A running stand-in for the service. All data are made up, and are lost when it ends. */
export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

/** No name server knows it: a client that follows a link out of an answer fails at once. */
const unknownOrigin = "https://app.fintoro.example";

/** One for all sandboxes of this process: the rules of its routes are compiled with the first request of each. */
let router: Router | null = null;

/**
 * Starts the sandbox on 127.0.0.1.
 *
 * @throws MirrorError `usage` where a subscription of the start is refused
 */
export async function startSandbox(options: SandboxOptions = {}) {
  const { seed = 1, clock = systemClock, random = systemRandom, webhooks = [], language = "en" } = options;
  const { latencyMs = 0 } = options;
  const failures: unknown[] = [];
  const companies = openCompanies(options, failures);
  const tokens = new Map<string, Bearer>();
  const parts: ServiceParts = {
    router: (router ??= routerOf(allRoutes())),
    tokens,
    limiters: companies.map(({ limiter }) => limiter),
    faults: new FaultPlan(random, options.faults ?? []),
    clock,
    random,
    language: languageNamed(language) ?? english,
    latencyMs: typeof latencyMs === "number" ? [latencyMs, latencyMs] : latencyMs,
    failures,
  };
  const service = new Service(parts);
  const access = companies.map(({ company }) => grantTokens(tokens, company, seed));
  const [own] = companies;
  const webhookSecrets = webhooks.map((one, index) =>
    subscribe(own?.company, one, `${seed}/webhook/${index}`),
  );
  const port = await service.listen(options.port ?? 0);
  if (options.publicOrigin === "self")
    for (const { company } of companies) company.settings.publicOrigin = `http://127.0.0.1:${port}`;
  const closing = new AbortController();
  const control = controlOf({ ...parts, companies, seed, closing: closing.signal });
  service.controlServer = controlServerOf(control);
  return {
    /** `http://127.0.0.1:PORT/api/public/v1` */
    url: `http://127.0.0.1:${port}${basePath}`,
    port,
    /** The first company's; it may write. */
    token: access[0]?.token ?? "",
    readToken: access[0]?.readToken ?? "",
    companies: access,
    /** Of the subscriptions that were asked for at the start, in their order. */
    webhookSecrets,
    /** The last 20,000 requests, oldest first. */
    requests: () => service.requests.list(),
    control,
    /** Answers a request that another server of this process received, as if it had come here. */
    answer: (request: IncomingMessage, response: ServerResponse) => service.answer(request, response),
    close: () => {
      closing.abort();
      for (const { sender } of companies) sender.close();
      return service.close();
    },
  };
}

function openCompanies(options: SandboxOptions, failures: unknown[]): OpenCompany[] {
  const { clock = systemClock, random = systemRandom, companies = 1, seed = 1, records = "small" } = options;
  const { allowLoopbackWebhooks = options.webhooks !== undefined, stocksInLists = true } = options;
  const { today = dateOf(localDay(clock.nowMs())), publicOrigin = unknownOrigin } = options;
  const { limit = 120, windowMs = 60_000, limiter: kind = "fixed" } = options;
  const { deliveryTimeoutMs: timeoutMs = 10_000, deliveryConcurrency: concurrency = 8 } = options;
  const { deliveries: shares = {}, retryScale = 1 } = options;
  const onBug = (cause: unknown) => void failures.push(cause);
  const sending = { shares, clock, retryScale, timeoutMs, concurrency, onBug };
  return Array.from({ length: companies }, (_, index) => {
    const plan = planOf(seed, index, today, documentCount(records));
    const settings = { today: plan.today, publicOrigin, allowLoopbackWebhooks, stocksInLists };
    const snapshot = companySnapshot(index, publicOrigin);
    const company = openCompany({ index, snapshot, nowMs: () => clock.nowMs(), random, settings });
    const past = new Past(plan, company);
    // A step reads what the steps before it have filled in.
    for (const step of [seedBasics, seedDocuments, seedPayments, seedActivities]) step(past);
    const limiter = new Limiter(clock, { kind, limit, windowMs });
    return { company, limiter, sender: new Sender(company, { ...sending, seed: seed + index }) };
  });
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

/** Tokens follow from the seed, so that a sandbox that is started again accepts its clients. */
function grantTokens(tokens: Map<string, Bearer>, company: Company, seed: number) {
  const grant = (scope: "read" | "write") => {
    const token = `${company.index + 1}|sandbox${scope}${hashOf(`${seed}/${company.index}/${scope}`)}`;
    tokens.set(token, { company, scope });
    return token;
  };
  return { name: company.settings.name, token: grant("write"), readToken: grant("read") };
}

/** Gives the secret; without one it follows from the seed, as tokens do. */
function subscribe(company: Company | undefined, first: FirstSubscription, secretSeed: string): string {
  const { url, secret = `whsec_${hashOf(secretSeed)}`, events: subscribedEvents = eventTypes } = first;
  try {
    const made = company && subscriptions.create(company, { url, isActive: true, subscribedEvents });
    if (made) company.tables.webhook_subscriptions.replace({ ...made, secret });
    return secret;
  } catch (cause) {
    if (!(cause instanceof Invalid)) throw cause;
    const [problem] = errorMap(cause.problems, "en")["url"] ?? [cause.message];
    throw new MirrorError("usage", `${url} cannot be subscribed: ${problem}`, { cause });
  }
}
