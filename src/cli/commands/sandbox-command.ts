import { dayMs } from "../../base/clock.ts";
import { listenFailure, MirrorError, messageOf, type ErrorKind } from "../../base/errors.ts";
import { formatDuration } from "../../base/units.ts";
import { isLoopbackUrl } from "../../config/address.ts";
import type { CommandContext } from "../program/command.ts";
import type { CommandOptions, CommandRun } from "../program/command-table.ts";

export const sandboxCommand: CommandRun<"sandbox"> = async (context, { options }) => {
  const { connector, log, clock, signal } = context;
  if (options.secret !== undefined && options.webhookUrl === undefined)
    throw new MirrorError("usage", "--secret signs what goes to --webhook-url, which is not given");
  if (options.secret?.trim() === "")
    throw new MirrorError("usage", "--secret is empty", {
      hint: "Name a text of your choice, or leave it out: one is made up and printed.",
    });
  const { connector: _chosen, ...request } = options;
  await using sandbox = await connector.startSandbox(request).catch((cause: unknown) => {
    const isOfPort = cause instanceof Error && "syscall" in cause && cause.syscall === "listen";
    throw isOfPort ? listenFailure("127.0.0.1", options.port ?? 0, cause) : cause;
  });
  const { url, token, access = { token }, companies, webhookSecrets } = sandbox;
  const document = { url, ...access, webhook_secret: webhookSecrets[0], companies };
  await context.print(document, [
    `base_url  ${url}`,
    ...Object.entries(access).map(([key, value]) => `${key.padEnd(9)} ${value}`),
    ...companies.slice(1).map((company) => `token of ${company.name}  ${company.token}`),
    ...webhookSecrets.map((secret) => `webhook secret  ${secret}`),
  ]);
  const startedMs = clock.monotonicMs();
  while (!signal.aborted) await clock.sleep(dayMs, signal);
  const after = formatDuration(clock.monotonicMs() - startedMs);
  log.info("the sandbox ends and forgets everything", { after });
  return "complete";
};

interface TriggerAnswer {
  readonly event: string;
  readonly id: number;
  readonly forged: boolean;
  readonly events: readonly {
    readonly id: string;
    readonly type: string;
    readonly resource: { readonly type: string; readonly id: number };
  }[];
  readonly deliveries: readonly {
    readonly eventId: string;
    readonly subscription: number;
    readonly attempt: number;
    readonly status: number | null;
    readonly error: string | null;
    readonly outcome: string;
  }[];
}

export const sandboxTriggerCommand: CommandRun<"sandbox trigger"> = async (context, { args, options }) => {
  const [event] = args;
  const asked = { event, id: options.id, forge: options.forge };
  const done = (await connectTo(context, options)("/sandbox/trigger", asked)) as TriggerAnswer;
  await context.print(done, triggerLines(done));
  // A delivery that the sandbox lost on purpose has ended, too.
  const ended = done.deliveries.filter(({ outcome }) => outcome === "delivered" || outcome === "lost");
  const isEnded = (one: TriggerAnswer["deliveries"][number]) =>
    ended.some(({ eventId, subscription }) => eventId === one.eventId && subscription === one.subscription);
  return done.deliveries.every(isEnded) ? "complete" : "failed";
};

function triggerLines({ event, id, forged, events, deliveries }: TriggerAnswer): string[] {
  const [type = "", change = ""] = event.split(".");
  const head = forged
    ? `${event} was sent for ${type} ${id}; nothing was changed`
    : `${type} ${id}: ${change}`;
  const lines = events.flatMap((one) => {
    const ends = deliveries.filter(({ eventId }) => eventId === one.id).map(attemptText);
    const { type: resource, id: own } = one.resource;
    const shown = ends.length === 0 ? ["no active subscription wants it"] : ends;
    return shown.map((end) => `  ${one.type}  ${resource} ${own}  ${one.id}  ${end}`);
  });
  return [head, ...lines];
}

function attemptText({ subscription, attempt, status, error, outcome }: TriggerAnswer["deliveries"][number]) {
  const why = status === null ? (error ?? "") : String(status);
  const details = [`attempt ${attempt}`, why].filter((part) => part !== "").join(", ");
  return `${outcome}: subscription ${subscription} (${details})`;
}

/** Has the sandbox do one thing after the other, spread evenly over the time. The same seed does the same work. */
export const sandboxTickCommand: CommandRun<"sandbox tick"> = async (context, { options }) => {
  const { clock, log, signal } = context;
  const { duration = 60_000, changes: of = 200, seed } = options;
  const ask = connectTo(context, options);
  const kinds: Record<string, number> = {};
  const startMs = clock.monotonicMs();
  let [changes, events] = [0, 0];
  for (; changes < of; changes++) {
    const waitMs = startMs + (changes * duration) / of - clock.monotonicMs();
    if (waitMs > 0) await clock.sleep(waitMs, signal);
    if (signal.aborted) break;
    const done = (await ask("/sandbox/work", { turn: changes, seed })) as { name: string; events: number };
    kinds[done.name] = (kinds[done.name] ?? 0) + 1;
    events += done.events;
    const after = formatDuration(clock.monotonicMs() - startMs);
    if (changes % Math.ceil(of / 10) === 0)
      log.info("the working day goes on", { changes: changes + 1, of, events, after });
  }
  const rows = Object.entries(kinds).toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  const lines = rows.map(([kind, count]) => `${String(count).padStart(6)}  ${kind}`);
  const report = { changes, events, ended: true, problem: null, of, kinds };
  await context.print(report, [`${changes} of ${of} changes, ${events} events`, ...lines]);
  return changes < of ? "interrupted" : "complete";
};

type SandboxAddress = Pick<CommandOptions<"sandbox tick">, "url" | "port">;

const answerWithinMs = 30_000;
const errorKinds: Readonly<Record<number, ErrorKind>> = { 404: "not_found", 409: "invalid", 422: "usage" };

function connectTo(context: CommandContext, address: SandboxAddress) {
  const origin = originOf(context, address);
  return async (path: string, input: object): Promise<unknown> => {
    const signal = AbortSignal.timeout(answerWithinMs);
    const request = { method: "POST", redirect: "error", signal, body: JSON.stringify(input) } as const;
    const response = await fetch(`${origin}${path}`, request).catch((cause: unknown) => {
      const why = messageOf((cause as Error).cause ?? cause);
      const hint = "start one with `fintoro-mirror sandbox --port N`, and name it with --url or --port";
      throw new MirrorError("network", `no sandbox answers at ${origin}: ${why}`, { hint, cause });
    });
    const answer: unknown = await response.json().catch((cause: unknown) => {
      throw new MirrorError("protocol", `what answers at ${origin} is no sandbox`, { cause });
    });
    if (response.ok) return answer;
    const { message } = answer as { readonly message?: unknown };
    const why = typeof message === "string" ? message : `the sandbox answered ${response.status}`;
    throw new MirrorError(errorKinds[response.status] ?? "protocol", why);
  };
}

/** Only this machine: no real service is ever asked. */
function originOf(context: CommandContext, { url, port }: SandboxAddress): string {
  if (url === undefined && port !== undefined) return `http://127.0.0.1:${port}`;
  const base = URL.parse(url ?? context.config("when_used").config.baseUrl);
  if (base?.protocol === "http:" && isLoopbackUrl(base.href)) return base.origin;
  throw new MirrorError("usage", `${base?.href ?? String(url)} is no sandbox on this machine`, {
    hint: "start one with `fintoro-mirror sandbox`, and name it with --url or --port",
  });
}
