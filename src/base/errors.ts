/** What went wrong, in the terms a command's exit code is chosen by. */
export type ErrorKind =
  | "usage"
  | "config"
  | "unauthenticated"
  | "forbidden"
  | "not_found"
  | "invalid"
  | "rate_limited"
  | "unavailable"
  | "network"
  | "protocol"
  | "identity"
  | "locked"
  | "database"
  | "stopped";

export interface ErrorOptions {
  /** Would the same call have a chance later? */
  readonly retryable?: boolean;
  /** What the user can do next, one sentence. */
  readonly hint?: string;
  readonly cause?: unknown;
}

/** The one error class of the project; the service's answers have their own below it (connector/errors). */
export class MirrorError extends Error {
  readonly kind: ErrorKind;
  readonly retryable: boolean;
  readonly hint: string | undefined;

  constructor(kind: ErrorKind, message: string, options: ErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = "MirrorError";
    this.kind = kind;
    this.retryable = options.retryable ?? false;
    this.hint = options.hint;
  }
}

/** For states that the code itself rules out: a broken promise of ours, never of the user or the service. */
export function assert(condition: unknown, promise: string): asserts condition {
  if (!condition) throw new Error(`broken promise: ${promise}`);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
