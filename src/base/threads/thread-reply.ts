import path from "node:path";
import { MirrorError } from "../errors.ts";

/** The answer of a thread. A message loses an error's class and own fields, so these stand beside it. */
export type ThreadReply<Value = unknown, Fields = MirrorError> =
  { readonly value: Value } | { readonly error: Error; readonly fields: Partial<Fields> };

/** The file that a thread begins with: TypeScript in the source, JavaScript in the built package. */
export function threadFile(source: URL): URL {
  return new URL(source.href.replace(/\.ts$/, path.extname(import.meta.url)));
}

export function failedReply(error: unknown): { readonly error: Error; readonly fields: object } {
  const thrown = error instanceof Error ? error : new Error(String(error));
  return { error: thrown, fields: Object.assign({}, thrown) };
}

export function errorOfReply({
  error,
  fields,
}: {
  readonly error: Error;
  readonly fields: Partial<MirrorError>;
}): Error {
  const { kind, retryable = false, hint } = fields;
  if (kind === undefined) return error;
  return new MirrorError(kind, error.message, { retryable, ...(hint === undefined ? {} : { hint }) });
}
