import { MirrorError, messageOf } from "../../base/errors.ts";
import { ServiceError } from "../../connector/service-errors.ts";

/** An error as it is told: on stderr for people, on stdout for `--json`. */
export interface Failure {
  readonly kind: string;
  readonly message: string;
  readonly hint: string | null;
  readonly requestId: string | null;
  /** Nobody foresaw it. */
  readonly bug: boolean;
}

export function failureOf(error: unknown): Failure {
  if (error instanceof MirrorError) {
    const requestId = error instanceof ServiceError ? error.requestId : null;
    return { kind: error.kind, message: error.message, hint: error.hint ?? null, requestId, bug: false };
  }
  if (isSystemError(error)) {
    return {
      kind: "system",
      message: error.message,
      hint: systemHints[error.code] ?? null,
      requestId: null,
      bug: false,
    };
  }
  return {
    kind: "bug",
    message: messageOf(error),
    hint: "this is a bug in fintoro-mirror: please report it with what the same command prints with -v",
    requestId: null,
    bug: true,
  };
}

const systemHints: Readonly<Record<string, string>> = {
  ENOENT: "check the path",
  EACCES: "check the owner and mode of the file and its folder",
  EPERM: "check the owner and mode of the file and its folder",
  ENOSPC: "free some space and run it again",
  EROFS: "the disk is mounted read-only",
  EADDRINUSE: "another program listens there; choose another port",
  EMFILE: "too many files are open; raise the limit (ulimit -n)",
};

/** What the operating system refused is not ours to be sorry for. */
function isSystemError(error: unknown): error is Error & { code: string } {
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return false;
  return typeof error.code === "string";
}
