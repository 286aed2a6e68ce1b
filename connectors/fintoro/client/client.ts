import { systemRandom, type Random } from "../../../src/base/random.ts";
import { type Methods, methodsOf } from "../../../src/connector/client/methods.ts";
import type { Transport } from "../../../src/connector/transport.ts";
import { operationGroups } from "../operations/document-operations.ts";

type Groups = typeof operationGroups;

/** `client.invoices.show(7)`: a group of methods for each group of operations; `client.whoami()` is in none. */
export type FintoroClient = Methods<Groups["token"]> & {
  readonly [K in Exclude<keyof Groups, "token">]: Methods<Groups[K]>;
};

/**
 * The whole public API as typed methods.
 *
 * Input that the service would refuse throws MirrorError `usage` first; errors of the service are ServiceErrors.
 * Answers are returned as received. An id beyond 2^53 is a bigint, whatever its type says.
 */
export function createClient(transport: Transport, parts: { readonly random?: Random } = {}): FintoroClient {
  const random = parts.random ?? systemRandom;
  const { token, ...named } = operationGroups;
  const groups = Object.entries(named).map(([name, group]) => [name, methodsOf(group, transport, random)]);
  const ofToken = methodsOf(token, transport, random);
  return Object.freeze({ ...Object.fromEntries(groups), ...ofToken }) as FintoroClient;
}
