import { MirrorError } from "../../base/errors.ts";
import { ContradictionError } from "../../connector/service-errors.ts";
import type { ServiceRequest, Transport } from "../../connector/transport.ts";
import { mayPass, type OutageWatch } from "../../sync/retry/outage.ts";
import type { Tally } from "../../sync/context/tally.ts";

export type ServiceRead = Pick<ServiceRequest, "path" | "query">;

/** The service refuses this read, or answers it with something else, while it answers others. */
export class ReadRefused extends MirrorError {
  readonly reason: MirrorError;

  constructor(reason: MirrorError) {
    super(reason.kind, reason.message, { hint: reason.hint, cause: reason });
    this.reason = reason;
  }
}

export interface ReaderParts {
  readonly transport: Transport;
  readonly outages: OutageWatch;
  /** Reads something that always exists, once. */
  readonly probe: () => Promise<unknown>;
  /** Counts the requests. */
  readonly tally: Tally;
  readonly signal: AbortSignal;
  /** Requests at a time. */
  readonly concurrency: number;
}

/** A read that fails while the service answers is tried this often. */
const mostTries = 3;

const goesOn = "The same command goes on with the rest, within a day.";

const concernsAll = new Set(["unauthenticated", "identity", "stopped", "database"]);

/** Reads from the service for `verify`, and waits while it is away. */
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
   * Sends one read and takes its body apart.
   *
   * @throws ReadRefused, and what concerns more than this read: a refused token, `stopped`, a service that stays away
   */
  async read<T>(
    read: ServiceRead,
    kind: "list" | "detail" | "child",
    parse: (body: Buffer) => T,
  ): Promise<T> {
    const { transport, outages, probe, tally, signal } = this.parts;
    const onSent = () => tally.sent(kind);
    for (let tries = 1; ; tries++) {
      let requestId: string | null = null;
      try {
        const request = { ...read, method: "GET", expect: "json", lane: "list", signal, onSent } as const;
        const answer = await transport.send(request);
        ({ requestId } = answer);
        const value = parse(answer.body);
        outages.succeeded();
        return value;
      } catch (thrown) {
        const isWrong = thrown instanceof ContradictionError;
        const error = isWrong ? thrown.of(read, requestId) : thrown;
        if (signal.aborted)
          throw new MirrorError("stopped", "stopped before all was compared", { hint: goesOn });
        if (!(error instanceof MirrorError) || concernsAll.has(error.kind)) throw error;
        if (mayPass(error)) await outages.untilAnswered(probe);
        if ((!mayPass(error) && !isWrong) || tries >= mostTries) throw new ReadRefused(error);
      }
    }
  }

  /** Does `work` for each item, some at a time. Rejects with the first error, and then begins no more. */
  async forEach<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
    const left = [...items].toReversed();
    const worker = async () => {
      while (left.length > 0) await work(left.pop() as T);
    };
    try {
      await Promise.all(Array.from({ length: this.parts.concurrency }, worker));
    } finally {
      left.length = 0;
    }
  }
}
