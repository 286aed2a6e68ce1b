import type { BudgetView } from "../../../src/rate-limit/permit.ts";
import type { SimulatedService } from "../service/simulated-service.ts";

/** As the config of the simulated programs has it. */
const reserveShare = 0.1;
/** After so long without a request nothing is known of the window. */
const longestWindowMs = 130_000;
/** So long a process waits for the answer of the request that opens a window. */
const openerTimeoutMs = 10_000;
/** Sums of times of a few decimals differ by less. */
const clockErrorMs = 0.001;
/** Fewer requests of others may be own ones that are under way. */
const fewestOfOthers = 8;
/** A process that saw others leaves them their share for at least this long. */
const rememberedMs = 300_000;

export interface WatchedRequest {
  readonly known: KnownWindow | null;
  /** Had answers of the last minutes shown others? */
  readonly sawOthers: boolean;
}

interface KnownWindow {
  readonly openedAt: number;
  /** Requests of others that the first answer in this window counted, and the last one. */
  readonly first: number;
  readonly last: number;
}

/** What a process could know of the service's window, to judge what it spends (I8). */
export class BudgetWatch {
  private readonly broken: string[];
  private known: KnownWindow | null = null;
  private lastSentAtMs = -Infinity;
  private othersSeenAtMs = -Infinity;
  private opener: { readonly request: WatchedRequest; readonly untilMs: number } | null = null;

  constructor(broken: string[]) {
    this.broken = broken;
  }

  /** Another process begins: it has seen nothing. */
  begin(): void {
    this.known = null;
    this.opener = null;
    this.othersSeenAtMs = -Infinity;
  }

  /** One request alone goes into a window of which nothing is known. */
  sent(nowMs: number): WatchedRequest {
    const sawOthers = nowMs - this.othersSeenAtMs < rememberedMs;
    const request = { known: this.known, sawOthers };
    if (this.opener && nowMs < this.opener.untilMs - clockErrorMs)
      this.broken.push("I8 more than one request into a window of which nothing is known");
    if (nowMs - this.lastSentAtMs > longestWindowMs)
      this.opener = { request, untilMs: nowMs + openerTimeoutMs };
    this.lastSentAtMs = nowMs;
    return request;
  }

  /** The service has counted it; `leavesReserve`: it is not for an event, and must leave others their share. */
  counted(
    { known, sawOthers }: WatchedRequest,
    { limiter, options }: SimulatedService,
    leavesReserve: boolean,
  ): void {
    const window = limiter.windows.at(-1);
    if (!leavesReserve || !window || known?.openedAt !== window.openedAt) return;
    if (!sawOthers) return;
    const { limit } = options;
    const reserve = Math.min(Math.ceil(limit * reserveShare), Math.floor(limit / 2));
    const left = limit - window.own - window.others + (window.others - known.last);
    if (left < reserve) this.broken.push(`I8 ${left} left to others, and not ${reserve}`);
  }

  /** It was answered, or its connection broke. */
  ended(request: WatchedRequest): void {
    if (this.opener?.request === request) this.opener = null;
  }

  /** An answer showed what is left of this window, in which others had sent so many requests. */
  showed(openedAt: number, others: number, nowMs: number): void {
    const { known } = this;
    if (known && known.openedAt > openedAt) return;
    const first = known?.openedAt === openedAt ? known.first : others;
    const last = known?.openedAt === openedAt ? Math.max(known.last, others) : others;
    this.known = { openedAt, first, last };
    if (last - first >= fewestOfOthers) this.othersSeenAtMs = nowMs;
  }

  /** What a process that ends says of its budget: the limit is the service's own, once an answer stated it. */
  judge({ limit, granted }: BudgetView, { options }: SimulatedService): void {
    if (this.known === null) return;
    if (limit !== options.limit) this.broken.push(`I8 the service grants ${options.limit}, and not ${limit}`);
    if (granted > options.limit) this.broken.push(`I8 ${granted} planned for a window of ${options.limit}`);
  }
}
