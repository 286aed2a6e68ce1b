import { z } from "zod";
import { MirrorError, messageOf } from "../../../src/base/errors.ts";
import type { Control } from "./control.ts";
import type { Day, DayReport } from "./traffic/tick.ts";
import { isRefusal } from "./traffic/actor.ts";
import { error, nothing, value, type Answer } from "./http/answer.ts";
import { jsonOf, type Incoming } from "./http/request.ts";
import type { JsonObject } from "./base/values.ts";

const company = z.int().min(0).optional();
const wish = z.object({
  event: z.string(),
  id: z.int().min(1).optional(),
  forge: z.boolean().optional(),
  company,
});
const dayWish = z.object({
  changes: z.int().min(1).max(100_000).optional(),
  durationMs: z.number().min(0).max(86_400_000).optional(),
  seed: z.int().min(0).max(4_294_967_295).optional(),
  company,
});

/** Longer than the first attempt and its timeout. */
const deliveredWithinMs = 15_000;
const shownAttempts = 1_000;

/** What other processes on this machine may ask of a running sandbox: the control, by HTTP. */
export function sideDoorTo(control: Control): (incoming: Incoming) => Promise<Answer> {
  let day: Day | null = null;
  const doors: Readonly<Record<string, (input: unknown) => Answer | Promise<Answer>>> = {
    "POST /sandbox/trigger": (input) => triggered(control, wish.parse(input)),
    "POST /sandbox/tick": (input) => {
      if (day && !day.report().ended) return error(409, "a working day is under way already");
      day = control.day(dayWish.parse(input));
      void day.done.catch(() => undefined);
      return value(dayView(day.report()), 202);
    },
    "GET /sandbox/tick": () =>
      day ? value(dayView(day.report())) : error(404, "there was no working day yet"),
    "DELETE /sandbox/tick": () => {
      day?.stop();
      return nothing();
    },
    "GET /sandbox/deliveries": () => value(deliveriesView(control)),
  };
  return async ({ method, fullPath, body }) => {
    const door = doors[`${method} ${fullPath}`];
    if (!door) return error(404, `there is no ${method} ${fullPath} at the sandbox`);
    try {
      return await door(method === "POST" ? jsonOf(body) : {});
    } catch (cause) {
      return refusal(cause);
    }
  };
}

function refusal(cause: unknown): Answer {
  if (cause instanceof z.ZodError) return error(422, z.prettifyError(cause));
  if (cause instanceof MirrorError) return error(422, cause.message);
  if (isRefusal(cause)) return error(409, cause.message);
  return error(500, messageOf(cause));
}

async function triggered(control: Control, sent: z.output<typeof wish>): Promise<Answer> {
  const { event, id, forge, company: index } = sent;
  const done = control.trigger(event, id, { forge, company: index });
  await control.webhooks.idle(deliveredWithinMs, { company: index ?? 0 }).catch(() => undefined);
  const ids = new Set(done.events.map((one) => one.id));
  const deliveries = control.webhooks
    .history(undefined, index)
    .filter(({ eventId }) => ids.has(eventId))
    .map((attempt) => ({ ...attempt }));
  const events = done.events.map((one) => ({ ...one }));
  return value({ ...done, events, deliveries });
}

function dayView(report: DayReport): JsonObject {
  return { ...report, kinds: { ...report.kinds } };
}

function deliveriesView({ webhooks }: Control): JsonObject {
  const attempts = webhooks.history().slice(-shownAttempts);
  return { pending: webhooks.pending(), attempts: attempts.map((attempt) => ({ ...attempt })) };
}
