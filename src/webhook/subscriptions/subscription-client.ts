import type { RecordId } from "../../base/ids.ts";
import type { Random } from "../../base/random.ts";
import { MirrorError } from "../../base/errors.ts";
import { ForbiddenError, ProtocolError } from "../../connector/service-errors.ts";
import type { SubscriptionOperations } from "../../connector/connector-manifest.ts";
import { callOperation } from "../../connector/client/methods.ts";
import type { Operation } from "../../connector/operation.ts";
import type { Transport } from "../../connector/transport.ts";

/** One subscription, as the service shows it. */
export interface Subscription {
  readonly id: RecordId;
  readonly name: string | null;
  readonly url: string;
  readonly active: boolean;
  readonly events: readonly string[];
  readonly lastSuccessAt: string | null;
  readonly lastFailureAt: string | null;
  readonly disabledReason: string | null;
}

/** What may be set; an update replaces all of it. */
export type SubscriptionInput = Pick<Subscription, "name" | "url" | "active" | "events">;

/** A secret, which the service shows once. */
export interface IssuedSecret {
  readonly subscription: Subscription;
  readonly secret: string;
}

/** What the calls are made with. */
export interface SubscriptionParts {
  readonly transport: Transport;
  readonly operations: SubscriptionOperations;
  readonly random: Random;
  readonly signal: AbortSignal;
}

/**
 * The company's webhook subscriptions in the service. Methods throw what the transport throws; a 403 gets a hint
 * about the token's scope.
 */
export class Subscriptions {
  private readonly parts: SubscriptionParts;

  constructor(parts: SubscriptionParts) {
    this.parts = parts;
  }

  async list(): Promise<Subscription[]> {
    const records = (await this.call(this.parts.operations.list)) as readonly ServiceRecord[];
    return records.map(parseSubscription);
  }

  async create(input: SubscriptionInput): Promise<IssuedSecret> {
    const { create } = this.parts.operations;
    return issued(create, await this.call(create, { input: bodyOf(input) }, hintsIfUnclear.create));
  }

  async update(id: RecordId, input: SubscriptionInput): Promise<Subscription> {
    const { update } = this.parts.operations;
    return parseSubscription((await this.call(update, { id, input: bodyOf(input) })) as ServiceRecord);
  }

  async rotate(id: RecordId): Promise<IssuedSecret> {
    const { rotate } = this.parts.operations;
    return issued(rotate, await this.call(rotate, { id }, hintsIfUnclear.rotate));
  }

  async remove(id: RecordId): Promise<void> {
    await this.call(this.parts.operations.delete, { id });
  }

  /** `hintIfUnclear`: what to do after an error that leaves open whether it was done. */
  private async call(
    operation: Operation,
    given: { readonly id?: RecordId; readonly input?: unknown } = {},
    hintIfUnclear?: string,
  ): Promise<unknown> {
    const { transport, random, signal } = this.parts;
    try {
      return await callOperation(transport, random, operation, { ...given, options: { signal } });
    } catch (error) {
      throw explained(error, hintIfUnclear);
    }
  }
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

function issued(operation: Operation, answer: unknown): IssuedSecret {
  const record = answer as ServiceRecord;
  const secret = record["plainTextSecret"];
  if (typeof secret !== "string" || !/^[\x21-\x7e]+$/.test(secret))
    throw new ProtocolError(`${operation.name}: the answer shows no secret that could be kept`, {
      hint: hintsIfUnclear.rotate,
    });
  return { subscription: parseSubscription(record), secret };
}

/** A field that is missing or odd is null or empty; only the id is needed. */
function parseSubscription(record: ServiceRecord): Subscription {
  const { id, url, isActive, subscribedEvents } = record;
  const text = (name: string) => (typeof record[name] === "string" ? record[name] : null);
  if (typeof id !== "number" && typeof id !== "bigint")
    throw new ProtocolError("the service sent a subscription without an id");
  return {
    id,
    name: text("name"),
    url: typeof url === "string" ? url : "",
    active: isActive === true,
    events: Array.isArray(subscribedEvents) ? subscribedEvents.map(String) : [],
    lastSuccessAt: text("lastSuccessAt"),
    lastFailureAt: text("lastFailureAt"),
    disabledReason: text("disabledReason"),
  };
}

function bodyOf({ name, url, active, events }: SubscriptionInput) {
  return { name, url, isActive: active, subscribedEvents: [...events] };
}
