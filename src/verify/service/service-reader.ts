import { MirrorError } from "../../base/errors.ts";
import type { ServiceRequest, Transport } from "../../connector/transport.ts";
import { mayPass, type OutageWatch } from "../../sync/retry/outage.ts";
import type { Tally } from "../../sync/context/tally.ts";

/** What is read. */
export type ServiceRead = Pick<ServiceRequest, "path" | "query">;

/** What the service says. `refused`: not this read, while it answers others. */
export type ReadAnswer<T> =
  { readonly kind: "read"; readonly value: T } | { readonly kind: "refused"; readonly error: MirrorError };

/** What a reader works with. */
export interface ReaderParts {
  readonly transport: Transport;
  readonly outages: OutageWatch;
  /** Reads something that always exists, once. */
  readonly probe: () => Promise<unknown>;
  /** Counts the requests. */
  readonly tally: Tally;
  readonly signal: AbortSignal;
}

/** A read that fails while the service answers is tried this often. */
const mostTries = 3;

const concernsAll = new Set(["unauthenticated", "identity", "stopped", "database"]);

/** Reads from the service for `verify`: waits while it is away, and gives refusals as answers. */
export class ServiceReader {
  private readonly parts: ReaderParts;

  constructor(parts: ReaderParts) {
    this.parts = parts;
  }

  /** Requests sent so far. */
  get requests(): number {
    return this.parts.tally.requests.total;
  }

  /**
   * Sends one read and takes its body apart. Throws what concerns more than this read: a refused token, `stopped`, a
   * service that stays away.
   */
  async read<T>(
    read: ServiceRead,
    kind: "list" | "detail" | "child",
    parse: (body: Buffer) => T,
  ): Promise<ReadAnswer<T>> {
    const { transport, outages, probe, tally, signal } = this.parts;
    const onSent = () => tally.sent(kind);
    for (let tries = 1; ; tries++) {
      try {
        const request = { ...read, method: "GET", expect: "json", lane: "list", signal, onSent } as const;
        const value = parse((await transport.send(request)).body);
        outages.succeeded();
        return { kind: "read", value };
      } catch (error) {
        if (signal.aborted) throw new MirrorError("stopped", "stopped before all was compared");
        if (!(error instanceof MirrorError) || concernsAll.has(error.kind)) throw error;
        if (!mayPass(error)) return { kind: "refused", error };
        await outages.untilAnswered(probe);
        if (tries >= mostTries) return { kind: "refused", error };
      }
    }
  }
}
