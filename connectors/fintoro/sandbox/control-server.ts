import { z } from "zod";
import { MirrorError, messageOf } from "../../../src/base/errors.ts";
import type { Control } from "./control.ts";
import type { Tick } from "./made-up/tick.ts";
import { isRefusedByRules } from "./rules/rules.ts";
import { error, nothing, value, type Reply } from "./service/reply.ts";
import { parseJsonBody, type WholeRequest } from "./service/request.ts";

const company = z.int().min(0).optional();
const triggerInput = z.object({
  event: z.string(),
  id: z.int().min(1).optional(),
  forge: z.boolean().optional(),
  company,
});
const tickInput = z.object({
  changes: z.int().min(1).max(100_000).optional(),
  durationMs: z.number().min(0).max(86_400_000).optional(),
  seed: z.int().min(0).max(4_294_967_295).optional(),
  company,
});

/** Longer than the first attempt and its timeout. */
const deliveredWithinMs = 15_000;
const shownAttempts = 1_000;

/** What other processes on this machine may ask of a running sandbox: a part of the control, by HTTP. */
export function controlServerOf(control: Control): (incoming: WholeRequest) => Promise<Reply> {
  let tick: Tick | null = null;
  const handlers: Readonly<Record<string, (input: unknown) => Reply | Promise<Reply>>> = {
    "POST /sandbox/trigger": (input) => triggerAnswer(control, triggerInput.parse(input)),
    "POST /sandbox/tick": (input) => {
      if (tick && !tick.report().ended) return error(409, "a working day is under way already");
      tick = control.day(tickInput.parse(input));
      void tick.done.catch(() => undefined);
      return value(tick.report(), 202);
    },
    "GET /sandbox/tick": () => (tick ? value(tick.report()) : error(404, "there was no working day yet")),
    "DELETE /sandbox/tick": () => {
      tick?.stop();
      return nothing();
    },
    "GET /sandbox/deliveries": () => {
      const attempts = control.webhooks.history().slice(-shownAttempts);
      return value({ pending: control.webhooks.pending(), attempts });
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
async function triggerAnswer(control: Control, sent: z.output<typeof triggerInput>): Promise<Reply> {
  const { event, id, forge, company: index } = sent;
  const done = control.trigger(event, id, { forge, company: index });
  await control.webhooks.idle(deliveredWithinMs, { company: index ?? 0 }).catch(() => undefined);
  const ids = new Set(done.events.map((one) => one.id));
  const deliveries = control.webhooks.history(undefined, index).filter(({ eventId }) => ids.has(eventId));
  return value({ ...done, deliveries });
}
