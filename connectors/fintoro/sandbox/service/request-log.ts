/** One request as it was answered; kept in a ring, so a long run stays small. */
export interface RequestLog {
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** 0 where no answer was given. */
  readonly status: number;
  /** Index of the company; null without a valid token. */
  readonly company: number | null;
  readonly requestId: string;
}

const keptRequests = 20_000;

export class RequestRing {
  readonly #ring: RequestLog[] = [];
  #total = 0;

  add(entry: RequestLog): void {
    this.#ring[this.#total % keptRequests] = entry;
    this.#total++;
  }

  /** All there ever were, kept or not. */
  get total(): number {
    return this.#total;
  }

  /** The kept ones, oldest first. */
  list(): RequestLog[] {
    const from = this.#total > keptRequests ? this.#total % keptRequests : 0;
    return [...this.#ring.slice(from), ...this.#ring.slice(0, from)];
  }

  clear(): void {
    this.#ring.length = 0;
    this.#total = 0;
  }
}
