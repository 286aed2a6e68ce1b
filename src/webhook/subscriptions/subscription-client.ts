import type { RecordId } from "../../base/ids.ts";
import type { Lane } from "../../base/lane.ts";
import type { Random } from "../../base/random.ts";
import { MirrorError } from "../../base/errors.ts";
import { ForbiddenError, ProtocolError } from "../../connector/service-errors.ts";
import type { SubscriptionOperations } from "../../connector/connector-declaration.ts";
import { callOperation } from "../../connector/client/methods.ts";
import type { Operation } from "../../connector/operation.ts";
import type { Transport } from "../../connector/transport.ts";

export type Subscription = Readonly<ReturnType<typeof parseSubscription>>;

export type SubscriptionInput = Pick<Subscription, "name" | "url" | "active" | "events">;

export type IssuedSecret = Readonly<ReturnType<typeof issued>>;

/** The company's webhook subscriptions. Throws as the transport; a 403 gets a hint about the token's scope. */
export type Subscriptions = ReturnType<typeof createSubscriptions>;

/** Connects the methods of `Subscriptions` to a company's transport; sends nothing. */
export function createSubscriptions(
  transport: Transport,
  operations: SubscriptionOperations,
  random: Random,
  signal: AbortSignal,
  lane?: Lane,
) {
  /** `hintIfUnclear`: what to do after an error that leaves open whether it was done. */
  const call = async (
    operation: Operation,
    given: { readonly id?: RecordId; readonly input?: unknown } = {},
    hintIfUnclear?: string,
  ) => {
    try {
      return await callOperation(transport, random, operation, { ...given, options: { signal, lane } });
    } catch (error) {
      throw explained(error, hintIfUnclear);
    }
  };
  const { create, update, rotate } = operations;
  return {
    list: async () => ((await call(operations.list)) as readonly ServiceRecord[]).map(parseSubscription),
    create: async (input: SubscriptionInput) =>
      issued(create, await call(create, { input: bodyOf(input) }, hintsIfUnclear.create)),
    update: async (id: RecordId, input: SubscriptionInput) =>
      parseSubscription((await call(update, { id, input: bodyOf(input) })) as ServiceRecord),
    rotate: async (id: RecordId) => issued(rotate, await call(rotate, { id }, hintsIfUnclear.rotate)),
    remove: async (id: RecordId) => void (await call(operations.delete, { id })),
  };
}

const hintsIfUnclear = {
  create:
    "It may have been created all the same: see `webhooks list`; `webhooks rotate ID` gives a secret that is known.",
  rotate: "There may be a new secret that nobody has seen: run `webhooks rotate` again, until it shows one.",
} as const;

const unclearKinds = new Set(["network", "unavailable", "protocol", "stopped"]);

function explained(error: unknown, hintIfUnclear: string | undefined): unknown {
  if (error instanceof ForbiddenError) {
    const { message, status, requestId, serviceMessage, cause } = error;
    const hint =
      "Subscriptions are managed with a token of scope `write`; `--token-env NAME` takes one for this call only.";
    return new ForbiddenError(message, { status, requestId, serviceMessage, cause, hint });
  }
  if (hintIfUnclear === undefined || !(error instanceof MirrorError) || !unclearKinds.has(error.kind))
    return error;
  return new MirrorError(error.kind, error.message, { hint: hintIfUnclear, cause: error });
}

type ServiceRecord = Readonly<Record<string, unknown>>;

function issued(operation: Operation, answer: unknown) {
  const record = answer as ServiceRecord;
  const secret = record["plainTextSecret"];
  if (typeof secret !== "string" || !/^[\x21-\x7e]+$/.test(secret))
    throw new ProtocolError(`${operation.name}: the answer shows no secret that could be kept`, {
      hint: hintsIfUnclear.rotate,
    });
  return { subscription: parseSubscription(record), secret };
}

/** A field that is missing or odd is null or empty; only the id is needed. Throws ProtocolError without one. */
export function parseSubscription(record: ServiceRecord) {
  const { id, url, isActive, subscribedEvents } = record;
  const text = (name: string) => (typeof record[name] === "string" ? record[name] : null);
  if (typeof id !== "number" && typeof id !== "bigint")
    throw new ProtocolError("the service sent a subscription without an id");
  return {
    id,
    name: text("name"),
    url: typeof url === "string" ? url : "",
    active: isActive === true,
    events: (Array.isArray(subscribedEvents) ? subscribedEvents.map(String) : []) as readonly string[],
    last_success_at: text("lastSuccessAt"),
    last_failure_at: text("lastFailureAt"),
    disabled_reason: text("disabledReason"),
  };
}

function bodyOf({ name, url, active, events }: SubscriptionInput) {
  return { name, url, isActive: active, subscribedEvents: [...events] };
}
