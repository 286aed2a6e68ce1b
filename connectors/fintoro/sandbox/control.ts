import { z } from "zod";
import { systemClock } from "../../../src/base/clock.ts";
import { MirrorError, messageOf } from "../../../src/base/errors.ts";
import { randomFor, SeededRandom } from "./base/seeded-random.ts";
import { Actor } from "./made-up/record-inputs.ts";
import { demoChanges, doSomeWork, trigger } from "./made-up/company-changes.ts";
import type { Company } from "./model/company.ts";
import { isRefusedByRules, present } from "./rules/rules.ts";
import type { ServiceParts } from "./service/http-service.ts";
import type { Limiter } from "./service/limiter.ts";
import { error, parseJsonBody, replyWith } from "./service/messages.ts";
import type { Reply, WholeRequest } from "./service/messages.ts";
import type { Sender } from "./webhooks/sender.ts";

interface StandInCompany {
  readonly company: Company;
  readonly sender: Sender;
  readonly limiter: Limiter;
}

/** The sandbox from the inside: no HTTP, no budget, no faults; the same rules and the same events. */
export type Control = ReturnType<typeof controlOf>;

/**
 * Gives the control over a sandbox's parts. Without a company's index it is about the first one, where it does
 * not say otherwise.
 */
export function controlOf(
  parts: ServiceParts & { readonly failures: readonly unknown[] },
  companies: readonly StandInCompany[],
  seed: number,
) {
  const at = (index = 0) => present(companies[index]);
  const ownRandom = new SeededRandom(seed);
  const actor = (index?: number, random = ownRandom) => new Actor(at(index).company, random);
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
  const pendingWithin = (ms: number) =>
    companies.reduce((sum, { sender }) => sum + sender.pendingWithin(ms), 0);
  return {
    /** Of the first company. */
    history: () => present(companies[0]).sender.attempts.list(),
    /** Deliveries that are neither delivered nor given up, retries included. */
    pending: () => pendingWithin(Number.POSITIVE_INFINITY),
    /**
     * Resolves when nothing waits to be sent; rejects after `timeoutMs`. Retries that are due later than
     * `withinMs` do not count.
     */
    idle: async (timeoutMs = 10_000, { withinMs = 1_000 } = {}) => {
      const endsMs = systemClock.monotonicMs() + timeoutMs;
      for (let count; (count = pendingWithin(withinMs)) > 0; await systemClock.sleep(2))
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
export function controlServerOf(control: Control): (incoming: WholeRequest) => Promise<Reply> {
  const handlers: Readonly<Record<string, (input: unknown) => Reply | Promise<Reply>>> = {
    "POST /sandbox/trigger": (input) => triggerAnswer(control, input),
    "POST /sandbox/work": (input) => {
      const { turn, seed } = workInput.parse(input);
      return replyWith(control.work(turn, seed));
    },
  };
  return async ({ method, fullPath, body }) => {
    const handler = handlers[`${method} ${fullPath}`];
    if (!handler) return error(404, `there is no ${method} ${fullPath} at the sandbox`);
    try {
      return await handler(method === "POST" ? parseJsonBody(body) : {});
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
