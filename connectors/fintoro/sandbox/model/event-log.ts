import type { Random } from "../../../../src/base/random.ts";
import { BoundedLog } from "../base/bounded-log.ts";

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
  readonly #events = new BoundedLog<SandboxEvent>(keptEvents);
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
    this.#events.add(event);
    for (const listener of this.#listeners) listener(event);
  }

  list(): readonly SandboxEvent[] {
    return this.#events.list();
  }

  /** Returns the function that ends the subscription. */
  subscribe(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
