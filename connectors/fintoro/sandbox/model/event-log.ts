import type { Random } from "../../../../src/base/random.ts";

/** An event as a delivery carries it. */
export interface SandboxEvent {
  readonly id: string;
  readonly type: string;
  readonly occurredAt: string;
  readonly resource: { readonly type: string; readonly id: number };
}

/** Called with each event right after it happened. */
export type EventListener = (event: SandboxEvent) => void;

const keptEvents = 200_000;

/** The events of a company, oldest first. It sends nothing: senders subscribe to it. */
export class EventLog {
  readonly #events: SandboxEvent[] = [];
  readonly #listeners = new Set<EventListener>();
  readonly #random: Random;
  readonly #nowMs: () => number;

  constructor(random: Random, nowMs: () => number) {
    this.#random = random;
    this.#nowMs = nowMs;
  }

  append(type: string, resourceType: string, id: number): void {
    const event = {
      id: `evt_${this.#random.uuid().replaceAll("-", "")}`,
      type,
      occurredAt: new Date(this.#nowMs()).toISOString(),
      resource: { type: resourceType, id },
    };
    this.#events.push(event);
    if (this.#events.length > keptEvents) this.#events.splice(0, keptEvents / 10);
    for (const listener of this.#listeners) listener(event);
  }

  list(): readonly SandboxEvent[] {
    return [...this.#events];
  }

  /** Returns the function that ends the subscription. */
  subscribe(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
