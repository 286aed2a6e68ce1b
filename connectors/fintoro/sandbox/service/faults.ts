import { MirrorError } from "../../../../src/base/errors.ts";
import { unknownName } from "../../../../src/base/names.ts";
import type { Random } from "../../../../src/base/random.ts";
import type { AnsweredRecord } from "../base/values.ts";

/** How much of the answer is sent before the connection breaks. */
const moments = ["before", "headers", "half"] as const;

const plainKinds =
  "html wrong_page endless_pages duplicate_ids shuffled_ties missing_ids huge_ids unknown_values unknown_fields missing_fields proto_key number_literals echo_token".split(
    " ",
  );
const byteKinds = ["huge_body", "gzip_bomb"];
const momentKinds = ["reset", "hang"];
const names = [...plainKinds, ...momentKinds, ...byteKinds, "latency", "429"];

export interface Fault extends ReplyFault, ConnectionFault {
  /** One of the names above, or `status`, `latency`, `rewrite`. */
  readonly kind: string;
  readonly match?: {
    /** Of the path below the base URL, without the query; a text is its beginning. */
    readonly path?: RegExp | string;
    readonly method?: string;
    readonly company?: number;
  };
  /** Of each matching request; 1 without it. */
  readonly probability?: number;
  readonly times?: number;
  /** Matching requests that pass first. */
  readonly after?: number;
}

/** How an answer differs that arrives whole. */
interface ReplyFault {
  readonly status?: number;
  /** Of a status 429; null omits `Retry-After`. */
  readonly retryAfterS?: number | null;
  readonly latencyMs?: number;
  /** Gives other JSON of a record; `text` is what would be sent. */
  readonly rewrite?: (record: AnsweredRecord, text: string) => string;
}

/** How an answer is sent that does not. */
interface ConnectionFault {
  /** Of `reset` and `hang`. @default "before" */
  readonly when?: (typeof moments)[number];
  /** Of `huge_body` and `gzip_bomb`. */
  readonly sizeBytes?: number;
}

/** The faults that affect one request, by kind; of equal kinds the first. */
export type ActiveFaults = ReadonlyMap<string, Fault>;

export type FaultPlan = ReturnType<typeof createFaultPlan>;

/** The faults in force; chooses those that affect a request. */
export function createFaultPlan(random: Random, faults: readonly Fault[]) {
  const armedWith = (fault: Fault) => ({ fault, matched: 0, affected: 0 });
  let all = faults.map(armedWith);
  return {
    /** Returns a function that removes the fault. */
    add: (fault: Fault): (() => void) => {
      const armed = armedWith(fault);
      all.push(armed);
      return () => void (all = all.filter((other) => other !== armed));
    },
    clear: () => void (all = []),
    /** Counts the request, and gives the faults that affect it. */
    faultsFor: (method: string, path: string, company: number | null): ActiveFaults => {
      const hits = all.filter((armed) => {
        const { match = {}, after = 0, times = Number.POSITIVE_INFINITY, probability = 1 } = armed.fault;
        const { path: wanted = "", method: ownMethod = method, company: ownCompany = company } = match;
        const onPath = typeof wanted === "string" ? path.startsWith(wanted) : wanted.test(path);
        if (!onPath || ownMethod !== method || ownCompany !== company) return false;
        const affects = ++armed.matched > after && armed.affected < times && random.next() < probability;
        if (affects) armed.affected++;
        return affects;
      });
      return new Map(hits.toReversed().map(({ fault }) => [fault.kind, fault]));
    },
  };
}

const grammar =
  "write faults as NAME[=DETAIL][:PROBABILITY][@PATH], separated by commas, for example 500:0.05,reset=half:0.01,latency=200,429=0@/invoices";

/**
 * `500:0.05,reset:0.01,latency:200` -> faults. A status is a number (`429=0` sends `Retry-After: 0`,
 * `429=-` omits it); `latency` takes milliseconds, `reset` and `hang` a moment, the big bodies bytes.
 *
 * @throws MirrorError `usage` where a fault is not understood
 */
export function parseFaults(text: string): Fault[] {
  const parts = text.split(",").map((part) => part.trim());
  return parts.filter((part) => part !== "").map(parseFault);
}

function parseFault(part: string): Fault {
  const unreadable = (why: string) => new MirrorError("usage", `fault "${part}" ${why}`, { hint: grammar });
  const numberOf = (text: string) => {
    const value = Number(text);
    if (text === "" || !Number.isFinite(value) || value < 0) throw unreadable("needs a number");
    return value;
  };
  const match = /^([a-z0-9_]+)(?:=([^:@]+))?(?::([\d.]+))?(?:@(\/.*))?$/.exec(part);
  if (!match) throw unreadable("cannot be read as a fault");
  const [, kind = "", detail, share, path] = match;
  const scope = path === undefined ? {} : { match: { path } };
  if (kind === "latency") return { ...scope, kind, latencyMs: numberOf(detail ?? share ?? "") };
  const probability = share === undefined ? 1 : numberOf(share);
  if (probability > 1) throw unreadable("has a probability above 1");
  const usual = { ...scope, kind, probability };
  if (/^[3-5]\d\d$/.test(kind)) {
    const retryAfterS = detail === "-" ? null : numberOf(detail ?? "0");
    return { ...usual, kind: "status", status: Number(kind), ...(detail !== undefined && { retryAfterS }) };
  }
  if (byteKinds.includes(kind)) return { ...usual, sizeBytes: numberOf(detail ?? "50000000") };
  if (plainKinds.includes(kind) || (momentKinds.includes(kind) && detail === undefined)) return usual;
  if (!momentKinds.includes(kind))
    throw new MirrorError("usage", unknownName("fault", kind, names), { hint: grammar });
  const when = moments.find((one) => one === detail);
  if (!when) throw unreadable(`knows the moments ${moments.join(", ")}`);
  return { ...usual, when };
}
