import type { z } from "zod";
import { systemRandom, type Random } from "../../../src/base/random.ts";
import { type CallOptions, type Methods, methodsOf } from "../../../src/connector/client/methods.ts";
import type { Transport } from "../../../src/connector/transport.ts";
import { operationGroups } from "../operations/document-operations.ts";
import type { attachmentUpload } from "../operations/record-operations.ts";

type Groups = typeof operationGroups;

interface Special {
  readonly whoami: Methods<Groups["token"]>["whoami"];
  readonly contactActivityAttachments: {
    /** The first of two steps: its tokens are given when an event is created or updated. */
    readonly upload: (
      files: readonly File[],
      options?: CallOptions,
    ) => Promise<readonly z.output<typeof attachmentUpload>[]>;
  };
}

/** `client.invoices.show(7)`: a group of methods for each group of operations. */
export type FintoroClient = Special & {
  readonly [K in Exclude<keyof Groups, "token" | "contactActivityAttachments">]: Methods<Groups[K]>;
};

/**
 * The whole public API as typed methods.
 *
 * Input that the service would refuse throws MirrorError `usage` first; errors of the service are ServiceErrors.
 * Answers are returned as received. An id beyond 2^53 is a bigint, whatever its type says.
 */
export function createClient(transport: Transport, parts: { readonly random?: Random } = {}): FintoroClient {
  const random = parts.random ?? systemRandom;
  const { token, contactActivityAttachments, ...named } = operationGroups;
  const { upload } = methodsOf(contactActivityAttachments, transport, random);
  const methods = Object.entries(named).map(([name, group]) => [name, methodsOf(group, transport, random)]);
  const special: Special = {
    whoami: methodsOf(token, transport, random).whoami,
    contactActivityAttachments: { upload: (files, options) => upload({ files: [...files] }, options) },
  };
  return Object.freeze({ ...Object.fromEntries(methods), ...special }) as FintoroClient;
}
