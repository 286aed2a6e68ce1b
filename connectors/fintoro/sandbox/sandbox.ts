import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { systemClock, type Clock } from "../../../src/base/clock.ts";
import { MirrorError, messageOf } from "../../../src/base/errors.ts";
import { systemRandom, type Random } from "../../../src/base/random.ts";
import { dateOf, dayOf, localDay } from "./base/calendar.ts";
import { companySnapshot, seedCompany } from "./made-up/seed.ts";
import { eventTypes } from "./model/catalogue.ts";
import { openCompany, type Company } from "./model/company.ts";
import { allRoutes } from "./resources/all-routes.ts";
import { subscriptions } from "./resources/own-settings.ts";
import { Invalid, isRefusedByRules, present } from "./rules/rules.ts";
import { createFaultPlan, type Fault } from "./service/faults.ts";
import { HttpService, type ServiceParts } from "./service/http-service.ts";
import { createLimiter, type LimiterOptions } from "./service/limiter.ts";
import { basePath, error, parseJsonBody, replyWith, routerOf } from "./service/messages.ts";
import type { Reply, WholeRequest } from "./service/messages.ts";
import { Sender, type SenderOptions } from "./webhooks/sender.ts";
import { z } from "zod";
import { randomFor, SeededRandom } from "./base/seeded-random.ts";
import { actorIn } from "./made-up/record-inputs.ts";
import { demoChanges, doSomeWork, trigger } from "./made-up/company-changes.ts";

interface BooksOptions {
  /** @default 1 */
  readonly seed?: number;
  /** Documents over all five kinds; everything else in proportion. @default 60 */
  readonly records?: number;
  /** @default 1 */
  readonly companies?: number;
  /** `YYYY-MM-DD`; seeds and statuses depend on it, and it does not move by itself. @default the clock's day */
  readonly today?: string;
  /** Lists of price-list items show the stock by warehouse, as the reference says. @default true */
  readonly stocksInLists?: boolean;
}

/** What a sandbox is started with; of the limiter the interface's 120 requests in a fixed window of a minute. */
export interface SandboxOptions extends BooksOptions, SenderOptions, Partial<Omit<LimiterOptions, "kind">> {
  readonly limiter?: LimiterOptions["kind"];
  /** 0 takes a free one. @default 0 */
  readonly port?: number;
  /** Of every answer. @default 0 */
  readonly latencyMs?: number;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly faults?: readonly Fault[];
  /** Subscriptions may point to this machine. @default true where `webhooks` are given */
  readonly allowLoopbackWebhooks?: boolean;
  readonly webhooks?: readonly FirstSubscription[];
}

/** A secret is made up from the seed, and all events are sent, where they are absent. */
interface FirstSubscription {
  readonly url: string;
  readonly secret?: string;
  readonly events?: readonly string[];
}

/**
 * Starts a stand-in for the service on 127.0.0.1. All data are made up, and are lost when it ends.
 *
 * @throws MirrorError `usage` where a first subscription is refused
 */
export async function startSandbox(options: SandboxOptions = {}) {
  const { seed = 1, clock = systemClock, random = systemRandom, webhooks = [], latencyMs = 0 } = options;
  const companies = openCompanies(options, (cause) => void service.failures.push(cause));
  const parts: ServiceParts = {
    router: routerOf(allRoutes),
    tokens: new Map(),
    faults: createFaultPlan(random, options.faults ?? []),
    clock,
    random,
    latencyMs,
  };
  const service = new HttpService(parts);
  // Tokens follow from the seed, so that a sandbox that is started again accepts its clients.
  const access = companies.map(({ company, limiter }) => {
    const grant = (scope: "read" | "write") => {
      const token = `${company.index + 1}|sandbox${scope}${hashOf(`${seed}/${company.index}/${scope}`)}`;
      parts.tokens.set(token, { company, limiter, scope });
      return token;
    };
    return { name: company.name, token: grant("write"), readToken: grant("read") };
  });
  const webhookSecrets = webhooks.map((one, index) =>
    subscribe(companies[0]?.company, one, hashOf(`${seed}/webhook/${index}`)),
  );
  const port = await service.listen(options.port ?? 0);
  const control = controlOf({ ...parts, failures: service.failures }, companies, seed);
  service.controlServer = controlServerOf(control);
  return {
    /** `http://127.0.0.1:PORT/api/public/v1` */
    url: `http://127.0.0.1:${port}${basePath}`,
    port,
    token: access[0]?.token ?? "",
    readToken: access[0]?.readToken ?? "",
    companies: access,
    /** Of the subscriptions that were asked for at the start, in their order. */
    webhookSecrets,
    requests: () => service.requests.list(),
    control,
    /** Answers a request that another server of this process received, as if it had come here. */
    answer: (request: IncomingMessage, response: ServerResponse) => service.answer(request, response),
    close: () => {
      for (const { sender } of companies) sender.close();
      return service.close();
    },
  };
}

function openCompanies(options: SandboxOptions, onBug: (cause: unknown) => void) {
  const { clock = systemClock, random = systemRandom, companies = 1, seed = 1, records = 60 } = options;
  const { allowLoopbackWebhooks = options.webhooks !== undefined, stocksInLists = true } = options;
  const { today = dateOf(localDay(clock.nowMs())), limiter: kind = "fixed" } = options;
  const { limit = 120, windowMs = 60_000 } = options;
  const nowMs = () => clock.nowMs();
  const shared = { nowMs, random, today: dayOf(today), allowLoopbackWebhooks, stocksInLists };
  return Array.from({ length: companies }, (_, index) => {
    const company = openCompany({ index, snapshot: companySnapshot(index), ...shared });
    seedCompany(company, (seed + index * 7919) >>> 0, records);
    const limiter = createLimiter(clock, { kind, limit, windowMs });
    return { company, limiter, sender: new Sender({ company, seed: seed + index, clock, options, onBug }) };
  });
}

const hashOf = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 32);

/** Gives the secret; without one it follows from the seed, as tokens do. */
function subscribe(company: Company | undefined, first: FirstSubscription, hash: string): string {
  const { url, secret = `whsec_${hash}`, events: subscribedEvents = eventTypes } = first;
  try {
    const made = company && subscriptions.create(company, { url, isActive: true, subscribedEvents });
    if (made) company.tables.webhook_subscriptions.replace({ ...made, secret });
    return secret;
  } catch (cause) {
    if (!(cause instanceof Invalid)) throw cause;
    const [problem] = cause.body("en").errors["url"] ?? [cause.message];
    throw new MirrorError("usage", `${url} cannot be subscribed: ${problem}`, { cause });
  }
}

type StandInCompany = ReturnType<typeof openCompanies>[number];

/** The sandbox from the inside: no HTTP, no budget, no faults; the same rules and the same events. */
type Control = ReturnType<typeof controlOf>;

/** Gives the control over a sandbox's parts; without a company's index it is about the first one. */
function controlOf(
  parts: ServiceParts & { readonly failures: readonly unknown[] },
  companies: readonly StandInCompany[],
  seed: number,
) {
  const at = (index = 0) => present(companies[index]);
  const ownRandom = new SeededRandom(seed);
  const actor = (index?: number, random = ownRandom) => actorIn(at(index).company, random);
  return {
    parts,
    companies,
    webhooks: deliveriesOf(companies),
    /** Makes an event happen by a fitting change; with `forge` emits it without one. */
    trigger: (
      event: string,
      id: number | null = null,
      how: { readonly forge?: boolean | undefined; readonly company?: number | undefined } = {},
    ) => trigger(actor(how.company), event, id, how.forge),
    /** Does something of a working day (`sandbox tick`): seed and turn decide what, the rules what is allowed. */
    work: (turn: number, ownSeed = seed, index = 0) =>
      doSomeWork(actor(index, randomFor(ownSeed, "work", turn))),
    /** What `demo` does to the first company, ready to be done. */
    demoChanges: () => demoChanges(actor()),
  };
}

/** Deliveries seen from the inside: of all companies, where nothing else is said. */
function deliveriesOf(companies: readonly StandInCompany[]) {
  return {
    /** Of the first company. */
    history: () => present(companies[0]).sender.attempts.list(),
    /** Resolves when nothing is to be sent within `withinMs`; rejects after `timeoutMs`. */
    idle: async (timeoutMs = 10_000, { withinMs = 1_000 } = {}) => {
      const endsMs = systemClock.monotonicMs() + timeoutMs;
      const waiting = () => companies.reduce((sum, { sender }) => sum + sender.pendingWithin(withinMs), 0);
      for (let count; (count = waiting()) > 0; await systemClock.sleep(2))
        if (systemClock.monotonicMs() >= endsMs)
          throw new Error(`${count} deliveries are still waiting after ${timeoutMs} ms`);
    },
  };
}

const triggerInput = z.object({
  event: z.string(),
  id: z.int().min(1).optional(),
  forge: z.boolean().optional(),
});
const workInput = z.object({
  turn: z.int().min(0),
  seed: z.int().min(0).max(4_294_967_295).optional(),
});

/** Longer than the first attempt and its timeout. */
const deliveredWithinMs = 15_000;

/** What other processes on this machine may ask of a running sandbox: a part of the control, by HTTP. */
function controlServerOf(control: Control) {
  return async ({ method, fullPath, body }: WholeRequest): Promise<Reply> => {
    const asked = `${method} ${fullPath}`;
    const input = parseJsonBody(body);
    try {
      if (asked === "POST /sandbox/trigger") return await triggerAnswer(control, input);
      if (asked !== "POST /sandbox/work") return error(404, `there is no ${asked} at the sandbox`);
      const { turn, seed } = workInput.parse(input);
      return replyWith(control.work(turn, seed));
    } catch (cause) {
      if (cause instanceof z.ZodError) return error(422, z.prettifyError(cause));
      if (cause instanceof MirrorError) return error(422, cause.message);
      return error(isRefusedByRules(cause) ? 409 : 500, messageOf(cause));
    }
  };
}

/** Answers once the events are delivered or cannot be, with the attempts so far. */
async function triggerAnswer(control: Control, input: unknown): Promise<Reply> {
  const { event, id, forge } = triggerInput.parse(input);
  const done = control.trigger(event, id, { forge });
  await control.webhooks.idle(deliveredWithinMs).catch(() => undefined);
  const ids = new Set(done.events.map((one) => one.id));
  const deliveries = control.webhooks.history().filter(({ eventId }) => ids.has(eventId));
  return replyWith({ ...done, deliveries });
}
