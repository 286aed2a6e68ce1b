import { MirrorError, messageOf } from "../../base/errors.ts";
import { ServiceError } from "../../connector/service-errors.ts";

/** An error as it is printed: on stderr for people, on stdout for `--json`. */
export interface Failure {
  readonly kind: string;
  readonly message: string;
  readonly hint: string | null;
  readonly requestId: string | null;
  /** An error that no code expected. */
  readonly bug: boolean;
}

/** Describes any thrown value. Errors of the operating system are no bugs. */
export function failureOf(error: unknown): Failure {
  const message = messageOf(error);
  if (error instanceof MirrorError) {
    const requestId = error instanceof ServiceError ? error.requestId : null;
    return { kind: error.kind, message, hint: error.hint ?? null, requestId, bug: false };
  }
  if (isSystemError(error))
    return { kind: "system", message, hint: systemHints[error.code] ?? null, requestId: null, bug: false };
  return { kind: "bug", message, hint: bugHint, requestId: null, bug: true };
}

const bugHint = "this is a bug in fintoro-mirror: please report it with what the same command prints with -v";

const systemHints: Readonly<Record<string, string>> = {
  ENOENT: "check the path",
  EACCES: "check the owner and mode of the file and its folder",
  EPERM: "check the owner and mode of the file and its folder",
  ENOSPC: "free some space and run it again",
  EROFS: "the disk is mounted read-only",
  EADDRINUSE: "another program listens there; choose another port",
  EMFILE: "too many files are open; raise the limit (ulimit -n)",
};

function isSystemError(error: unknown): error is Error & { code: string } {
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return false;
  return typeof error.code === "string";
}
