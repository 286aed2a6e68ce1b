import { MirrorError, messageOf, systemReason } from "../../base/errors.ts";
import { ServiceError } from "../../connector/service-errors.ts";

/**
 * Describes any thrown value, as it is printed on stderr for people and on stdout for `--json`. Errors of the operating
 * system are no bugs.
 */
export function failureOf(error: unknown) {
  const message = messageOf(error);
  const requestId = error instanceof ServiceError ? error.requestId : null;
  if (error instanceof MirrorError)
    return { kind: error.kind as string, message, hint: error.hint ?? null, requestId, bug: false };
  if (!isSystemError(error)) return { kind: "bug", message, hint: bugHint, requestId, bug: true };
  const hint = systemHints[error.code] ?? null;
  return { kind: "system", message: systemText(error), hint, requestId, bug: false };
}

const bugHint = "this is a bug in fintoro-mirror: please report it with what the same command prints with -v";

const attempts: Readonly<Record<string, string>> = {
  mkdir: "make the folder",
  open: "open",
  read: "read",
  write: "write",
  rename: "move",
  unlink: "remove",
  scandir: "list the folder",
};

/** `cannot make the folder /x/y: no permission`; the system's own text where there is more to say than that. */
function systemText(error: SystemError): string {
  const { syscall, path, message } = error;
  const [attempt, reason] = [attempts[syscall], systemReason(error)];
  if (path === undefined || attempt === undefined || reason === null) return message;
  return `cannot ${attempt} ${path}: ${reason}`;
}

const systemHints: Readonly<Record<string, string>> = {
  ENOENT: "check the path",
  ENOTDIR: "move the file away, or name another folder",
  EISDIR: "move the folder away, or name another file",
  EACCES: "check the owner and mode of the file and its folder",
  EPERM: "check the owner and mode of the file and its folder",
  ENOSPC: "free some space and run it again",
  EROFS: "the disk is mounted read-only",
  EADDRINUSE: "another program listens there; choose another port",
  EMFILE: "too many files are open; raise the limit (ulimit -n)",
};

type SystemError = Error & { readonly code: string; readonly syscall: string; readonly path?: string };

function isSystemError(error: unknown): error is SystemError {
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return false;
  return typeof error.code === "string";
}
