import { MirrorError, messageOf, type ErrorKind } from "../../base/errors.ts";
import type { CompanyConfig, Config } from "../../config/config.ts";
import type { CommandContext } from "../program/command.ts";

export interface CheckResult {
  readonly name: string;
  readonly status: "ok" | "warn" | "fail";
  readonly detail: string;
  /** What to do about it. */
  readonly hint?: string;
  /** Of a failure: what the exit code is chosen by. */
  readonly kind?: ErrorKind;
}

/** What a check of one company looks at. */
export interface CheckSubject {
  readonly context: CommandContext;
  readonly config: Config;
  readonly company: CompanyConfig;
}

export function ok(name: string, detail: string): CheckResult {
  return { name, status: "ok", detail };
}

export function warn(name: string, detail: string, hint: string): CheckResult {
  return { name, status: "warn", detail, hint };
}

export function fail(name: string, detail: string, hint: string, kind?: ErrorKind): CheckResult {
  return { name, status: "fail", detail, hint, ...(kind === undefined ? {} : { kind }) };
}

export function failFrom(name: string, error: unknown): CheckResult {
  if (!(error instanceof MirrorError)) return fail(name, messageOf(error), "see the message");
  return fail(name, error.message, error.hint ?? "see the message", error.kind);
}
