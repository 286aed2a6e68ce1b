/**
 * `retry`: another attempt follows. `failed`: that was the last. `lost`: meant never to be sent.
 * `dropped`: the subscription was deactivated or deleted while the delivery waited.
 */
export type AttemptOutcome = "delivered" | "retry" | "failed" | "lost" | "dropped";

/** One attempt at one delivery, and how it ended. */
export interface Attempt {
  readonly eventId: string;
  readonly type: string;
  readonly subscription: number;
  /** From 1; 0 for what was lost or dropped before any. */
  readonly attempt: number;
  /** When it ended. */
  readonly at: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly outcome: AttemptOutcome;
}

const keptAttempts = 50_000;

/** The attempts of a company's deliveries, oldest first; the oldest are forgotten. */
export class History {
  readonly #attempts: Attempt[] = [];

  add(attempt: Attempt): void {
    this.#attempts.push(attempt);
    if (this.#attempts.length > keptAttempts) this.#attempts.splice(0, keptAttempts / 10);
  }

  list(subscription?: number): readonly Attempt[] {
    return this.#attempts.filter(
      (attempt) => subscription === undefined || attempt.subscription === subscription,
    );
  }
}
