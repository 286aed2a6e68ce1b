import type { SimulatedService } from "../service/simulated-service.ts";

/** As the config of the simulated programs has it. */
const reserveShare = 0.1;
/** After so long without a request nothing is known of the window. */
const longestWindowMs = 130_000;
/** So long a process waits for the answer of the request that opens a window. */
const openerTimeoutMs = 10_000;
/** Fewer requests of others may be own ones that are under way. */
const fewestOfOthers = 8;

/** One request, from when it is sent. */
export interface WatchedRequest {
  /** What answers had shown of the window when it was sent. */
  readonly known: KnownWindow | null;
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
  private opener: { readonly request: WatchedRequest; readonly untilMs: number } | null = null;

  constructor(broken: string[]) {
    this.broken = broken;
  }

  /** Another process begins: it has seen nothing. */
  begin(): void {
    this.known = null;
    this.opener = null;
  }

  /** One request alone goes into a window of which nothing is known. */
  sent(nowMs: number): WatchedRequest {
    const request = { known: this.known };
    if (this.opener && nowMs < this.opener.untilMs)
      this.broken.push("I8 more than one request into a window of which nothing is known");
    if (nowMs - this.lastSentAtMs > longestWindowMs)
      this.opener = { request, untilMs: nowMs + openerTimeoutMs };
    this.lastSentAtMs = nowMs;
    return request;
  }

  /** The service has counted it; `leavesReserve`: it is not for an event, and must leave others their share. */
  counted({ known }: WatchedRequest, { limiter, options }: SimulatedService, leavesReserve: boolean): void {
    const window = limiter.windows.at(-1);
    if (!leavesReserve || !window || known?.openedAt !== window.openedAt) return;
    if (known.last - known.first < fewestOfOthers) return;
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
  showed(openedAt: number, others: number): void {
    const { known } = this;
    if (known && known.openedAt > openedAt) return;
    if (known?.openedAt !== openedAt) this.known = { openedAt, first: others, last: others };
    else this.known = { ...known, last: Math.max(known.last, others) };
  }
}
