import { systemRandom, type Random } from "../../../src/base/random.ts";
import type { CallOptions, Methods } from "../../../src/connector/client/call-types.ts";
import { methodsOf } from "../../../src/connector/client/methods.ts";
import type { Transport } from "../../../src/connector/transport.ts";
import * as groups from "../operations/groups.ts";
import type { AttachmentUpload } from "./record-types.ts";

type Groups = typeof groups;
type Named = Omit<Groups, "token" | "contactActivityAttachments">;

interface Special {
  /** The company that the token belongs to. */
  readonly whoami: Methods<Groups["token"]>["whoami"];
  readonly contactActivityAttachments: {
    /** First step of two: the tokens it gives are named when an event is created or updated. */
    readonly upload: (files: readonly File[], options?: CallOptions) => Promise<readonly AttachmentUpload[]>;
  };
}

/** `client.invoices.show(7)`: a group of methods for each group of operations. */
export type FintoroClient = Special & { readonly [K in keyof Named]: Methods<Groups[K]> };

/**
 * The whole public API as typed methods. What the service would refuse is refused here first (kind
 * `usage`); its answers are handed on as they came; its errors are the transport's ServiceErrors.
 * An id beyond 2^53, should one ever come, is a bigint whatever its type says: exact, and taken back as it is.
 */
export function createClient(transport: Transport, parts: { readonly random?: Random } = {}): FintoroClient {
  const random = parts.random ?? systemRandom;
  const { token, contactActivityAttachments, ...named } = groups;
  const { upload } = methodsOf(contactActivityAttachments, transport, random);
  const methods = Object.entries(named).map(([name, group]) => [name, methodsOf(group, transport, random)]);
  const special: Special = {
    whoami: methodsOf(token, transport, random).whoami,
    contactActivityAttachments: {
      upload: (files, options) => upload({ files: [...files] }, options),
    },
  };
  return Object.freeze({ ...Object.fromEntries(methods), ...special }) as FintoroClient;
}
