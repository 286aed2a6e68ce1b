import { MirrorError } from "../../src/base/errors.ts";
import { NotFoundError } from "../../src/connector/service-errors.ts";

/** A 404; null: without the service's own words, as a proxy's page. */
export const notFound = (serviceMessage: string | null) =>
  new NotFoundError("404", { status: 404, serviceMessage });

/** The MirrorError that `step` throws; anything else it throws, or nothing, is a failed test. */
export function errorOf(step: () => unknown): MirrorError {
  try {
    step();
  } catch (error) {
    return asMirrorError(error);
  }
  return wentThrough();
}

/** The same for what ends later. */
export function rejectionOf(promise: Promise<unknown>): Promise<MirrorError> {
  return promise.then(wentThrough, asMirrorError);
}

function wentThrough(): never {
  throw new Error("it went through");
}

function asMirrorError(error: unknown): MirrorError {
  if (error instanceof MirrorError) return error;
  throw error;
}
