import { command } from "../../program/command.ts";
import { flag, wholeNumber } from "../../program/option-specs.ts";
import { sandboxClientOptions, connectSandbox } from "./running-sandbox.ts";

interface Event {
  readonly id: string;
  readonly type: string;
  readonly resource: { readonly type: string; readonly id: number };
}

interface Attempt {
  readonly eventId: string;
  readonly subscription: number;
  readonly attempt: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly outcome: string;
}

interface Triggered {
  readonly event: string;
  readonly id: number;
  readonly forged: boolean;
  readonly events: readonly Event[];
  readonly deliveries: readonly Attempt[];
}

export const sandboxTriggerCommand = command({
  name: "sandbox trigger",
  summary: "make an event happen in a running sandbox, by the change it tells of",
  args: [{ name: "<event>", doc: "invoices.paid, clients.updated, ..." }],
  options: {
    id: wholeNumber("--id <n>", "of the record (otherwise one is chosen)", { min: 1, max: 1e15 - 1 }),
    forge: flag("--forge", "tell the event without the change"),
    ...sandboxClientOptions,
  },
  async run(context, { args, options }) {
    const [event] = args;
    const { id, forge } = options;
    const answer = await connectSandbox(context, options).ask("POST", "/sandbox/trigger", {
      event,
      id,
      forge,
    });
    const done = answer as Triggered;
    if (context.globals.json) await context.output.json(done);
    else for (const line of linesOf(done)) await context.output.line(line);
    return done.events.every((one) => arrived(one, done)) ? "complete" : "failed";
  },
});

function linesOf(done: Triggered): string[] {
  const [type = "", what = ""] = done.event.split(".");
  const head = done.forged
    ? `${done.event} is told of ${type} ${done.id}; nothing was changed`
    : `${type} ${done.id}: ${what}`;
  return [head, ...done.events.flatMap((event) => eventLines(event, done))];
}

function eventLines({ id, type, resource }: Event, { deliveries }: Triggered): string[] {
  const own = deliveries.filter(({ eventId }) => eventId === id);
  const ways = own.length === 0 ? ["no active subscription wants it"] : own.map(attemptText);
  return ways.map((way) => `  ${type}  ${resource.type} ${resource.id}  ${id}  ${way}`);
}

function attemptText({ subscription, attempt, status, error, outcome }: Attempt): string {
  const why = status === null ? (error ?? "") : String(status);
  const told = [`attempt ${attempt}`, why].filter((part) => part !== "").join(", ");
  return `${outcome}: subscription ${subscription} (${told})`;
}

/** At every subscription that was to get it; what the sandbox lost on purpose counts as well. */
function arrived({ id }: Event, { deliveries }: Triggered): boolean {
  const own = deliveries.filter(({ eventId }) => eventId === id);
  const subscriptions = new Set(own.map(({ subscription }) => subscription));
  return [...subscriptions].every((one) =>
    own.some(
      ({ subscription, outcome }) => subscription === one && (outcome === "delivered" || outcome === "lost"),
    ),
  );
}
