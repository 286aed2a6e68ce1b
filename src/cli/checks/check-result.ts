import { MirrorError, messageOf, type ErrorKind } from "../../base/errors.ts";

/** What a check found. */
export interface CheckResult {
  readonly name: string;
  readonly status: "ok" | "warn" | "fail";
  readonly detail: string;
  /** What the reader can do about it. */
  readonly hint?: string;
  /** Kind of a failure; chooses the exit code. */
  readonly kind?: ErrorKind;
}

/** A check that passed. */
export function ok(name: string, detail: string): CheckResult {
  return { name, status: "ok", detail };
}

/** A check that found something that may be wrong. */
export function warn(name: string, detail: string, hint: string): CheckResult {
  return { name, status: "warn", detail, hint };
}

/** A check that failed. */
export function fail(name: string, detail: string, hint: string, kind?: ErrorKind): CheckResult {
  return { name, status: "fail", detail, hint, ...(kind === undefined ? {} : { kind }) };
}

/** A check that failed with an error; its hint and kind are kept. */
export function failFrom(name: string, error: unknown): CheckResult {
  const { hint = "see the message", kind } = error instanceof MirrorError ? error : {};
  return fail(name, messageOf(error), hint, kind);
}
