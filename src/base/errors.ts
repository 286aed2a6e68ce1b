/** What went wrong; a command's exit code follows from it. */
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
  /** This machine does not let the program do its work. */
  | "runtime"
  | "stopped";

export interface ErrorOptions {
  /** Could the same call succeed later? @default false */
  readonly retryable?: boolean;
  /** What the user can do next; one sentence. */
  readonly hint?: string;
  readonly cause?: unknown;
}

/** The project's error class. Errors of the service extend it (connector/service-errors.ts). */
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

export function listenFailure(host: string, port: number, cause: unknown): MirrorError {
  const hint = "Another program may use the port: choose another one.";
  return new MirrorError("runtime", `cannot listen on ${host}:${port}: ${messageOf(cause)}`, { hint, cause });
}

export function throwIfAborted(signal: AbortSignal | undefined, message: string): void {
  if (signal?.aborted) throw new MirrorError("stopped", message);
}

export function valueOr<T, U>(step: () => T, otherwise: U): T | U {
  try {
    return step();
  } catch {
    return otherwise;
  }
}

/** Throws when the code's own promise does not hold. Not for mistakes of the user or the service. */
export function assert(condition: unknown, promise: string): asserts condition {
  if (!condition) throw new Error(`broken promise: ${promise}`);
}

/** What was thrown first, where the end of a `using` block failed as well. By its name: Node 22 has no such class. */
export function firstThrown(error: unknown): unknown {
  const isPair = error instanceof Error && error.name === "SuppressedError" && "suppressed" in error;
  return isPair ? firstThrown(error.suppressed) : error;
}

/** The message of anything that was thrown, or reported by a library as a plain object with one. */
export function messageOf(thrown: unknown): string {
  const error = firstThrown(thrown);
  const hasMessage = typeof error === "object" && error !== null && "message" in error;
  return String(hasMessage ? error.message : error);
}

const owner = "Check the owner and mode of the file and its folder.";

/** Why the operating system refuses, and what helps. */
const systemProblems: Readonly<Record<string, readonly [reason: string, hint: string]>> = {
  ENOENT: ["there is no such file or folder", "Check the path."],
  ENOTDIR: ["a file is where a folder belongs", "Move it away, or choose another path."],
  EISDIR: ["a folder is where a file belongs", "Move it away, or choose another path."],
  EEXIST: ["something else is there already", "Move it away, or choose another path."],
  EACCES: ["no permission", owner],
  EPERM: ["no permission", owner],
  EROFS: ["the disk is mounted read-only", "Mount it for writing, or choose another path."],
  ENOSPC: ["the disk is full", "Free some space and run it again."],
  EDQUOT: ["the disk is full", "Free some space and run it again."],
  EFBIG: ["the disk is full", "Free some space and run it again."],
  EIO: ["the disk gave an input/output error", "Check the disk."],
  EMFILE: ["too many files are open", "Raise the limit of open files (`ulimit -n`)."],
  ENFILE: ["too many files are open", "Raise the limit of open files (`ulimit -n`)."],
  EADDRINUSE: ["the port is in use", "Another program listens there; choose another port."],
};

/** By which Node, the system and most libraries name the cause; empty where there is none. */
export function codeOf(error: unknown): string {
  const { code } = Object(error) as { readonly code?: unknown };
  return typeof code === "string" ? code : "";
}

/** Why the operating system refused, in words, and what helps; null where it did not, or for a reason without words here. */
export function systemProblem(error: unknown): { readonly reason: string; readonly hint: string } | null {
  const [reason, hint] = systemProblems[codeOf(error)] ?? [];
  return reason === undefined || hint === undefined ? null : { reason, hint };
}

export function readFailure(error: unknown): string {
  if (codeOf(error) === "ENOENT") return "there is no such file";
  return systemProblem(error)?.reason ?? messageOf(error);
}

/** Reads a file that the user names. Throws MirrorError `kind` with what is `shown` of it, and why it cannot be read. */
export function readNamed<T>(read: () => T, kind: ErrorKind, shown: string, hint?: string): T {
  try {
    return read();
  } catch (cause) {
    throw new MirrorError(kind, `${shown} cannot be read: ${readFailure(cause)}`, { hint, cause });
  }
}

/** The error's hint as a field of a log line or report; empty where it has none. */
export function hintOf(thrown: unknown): { readonly hint?: string } {
  const error = firstThrown(thrown);
  return error instanceof MirrorError && error.hint !== undefined ? { hint: error.hint } : {};
}
