import type { ServerResponse } from "node:http";
import { MirrorError } from "../../../../src/base/errors.ts";
import type { Random } from "../../../../src/base/random.ts";
import type { Reply } from "./messages.ts";

/** How much of the answer is sent before the connection breaks. */
const moments = ["before", "headers", "half"] as const;

export interface Fault extends FaultEffect {
  /** `status`, `latency`, `reset`, `hang`, or any name for one that gives another answer. */
  readonly kind: string;
  readonly match?: {
    /** Of the path below the base URL, without the query; a text is its beginning. */
    readonly path?: RegExp | string;
    readonly method?: string;
  };
  /** Of each matching request; 1 without it. */
  readonly probability?: number;
  readonly times?: number;
}

interface FaultEffect {
  readonly status?: number;
  /** Of a status 429; null omits `Retry-After`. */
  readonly retryAfterS?: number | null;
  readonly latencyMs?: number;
  /** Of `reset` and `hang`. @default "before" */
  readonly when?: (typeof moments)[number];
  /** Another answer in place of the whole one. */
  readonly answer?: (whole: Reply, authorization: string) => Reply;
}

export type FaultPlan = ReturnType<typeof createFaultPlan>;

/** The faults in force; chooses those that affect a request. */
export function createFaultPlan(random: Random, faults: readonly Fault[]) {
  const armedWith = (fault: Fault) => ({ fault, affected: 0 });
  let all = faults.map(armedWith);
  return {
    /** Returns a function that removes the fault. */
    add: (fault: Fault): (() => void) => {
      const armed = armedWith(fault);
      all.push(armed);
      return () => void (all = all.filter((other) => other !== armed));
    },
    clear: () => void (all = []),
    /** Counts the request, and gives the faults that affect it, by kind; of equal kinds the first. */
    faultsFor: (method: string, path: string): ReadonlyMap<string, Fault> => {
      const hits = all.filter((armed) => {
        const { match = {}, times = Number.POSITIVE_INFINITY, probability = 1 } = armed.fault;
        const { path: wanted = "", method: ownMethod = method } = match;
        const onPath = typeof wanted === "string" ? path.startsWith(wanted) : wanted.test(path);
        if (!onPath || ownMethod !== method) return false;
        const affects = armed.affected < times && random.next() < probability;
        if (affects) armed.affected++;
        return affects;
      });
      return new Map(hits.toReversed().map(({ fault }) => [fault.kind, fault]));
    },
  };
}

/** Sends no answer, its head or half of it and nothing more. A reset ends the connection then. */
export async function breakOff(
  response: ServerResponse,
  { status, headers, body }: Reply,
  { kind, when = "before" }: Fault,
): Promise<void> {
  if (when !== "before") {
    response.writeHead(status, { ...headers, "Content-Length": String(body.length) });
    response.flushHeaders();
    const half = body.subarray(0, Math.max(1, body.length >> 1));
    await new Promise<void>((resolve) => {
      if (when === "headers") setImmediate(resolve);
      else response.write(half, () => setImmediate(resolve));
    });
  }
  if (kind === "reset") response.destroy();
}

const grammar =
  "write faults as NAME[=DETAIL][:PROBABILITY][@PATH], separated by commas, for example 500:0.05,reset=half:0.01,latency=200,429=0@/invoices";

/**
 * `500:0.05,reset:0.01,latency:200` -> faults. A status is a number (`429=0` sends `Retry-After: 0`,
 * `429=-` omits it); `latency` takes milliseconds, `reset` and `hang` a moment.
 *
 * @throws MirrorError `usage` where a fault is not understood
 */
export function parseFaults(text: string): Fault[] {
  const parts = text.split(",").map((part) => part.trim());
  return parts.filter((part) => part !== "").map(parseFault);
}

const isCount = (value: number) => value >= 0 && value < Infinity;

function parseFault(part: string): Fault {
  const form = /^([a-z0-9_]+)(?:=([^:@]+))?(?::([\d.]+))?(?:@(\/.*))?$/;
  const [, name = "", detail, share, path] = form.exec(part) ?? [];
  const match = path === undefined ? undefined : { path };
  const [latencyMs, probability] = [Number(detail ?? share), Number(share ?? 1)];
  const retryAfterS = detail === undefined ? undefined : detail === "-" ? null : Number(detail);
  const when = moments.find((one) => one === detail);
  if (name === "latency" && isCount(latencyMs)) return { match, kind: name, latencyMs };
  const usual = { match, kind: name, probability };
  const isStatus = /^[3-5]\d\d$/.test(name) && isCount(retryAfterS ?? 0);
  if (isStatus && probability <= 1) return { ...usual, kind: "status", status: Number(name), retryAfterS };
  const isMoment = /^(reset|hang)$/.test(name) && (detail === undefined || when !== undefined);
  if (isMoment && probability <= 1) return { ...usual, when };
  throw new MirrorError("usage", `fault "${part}" cannot be read`, { hint: grammar });
}
