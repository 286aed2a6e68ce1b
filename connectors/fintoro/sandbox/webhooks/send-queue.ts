/** Work for one receiver: begun in the order it came, a few at a time. */
export class SendQueue<T> {
  readonly #send: (item: T) => Promise<void>;
  readonly #width: number;
  #waiting: T[] = [];
  #head = 0;
  #busy = 0;

  constructor(width: number, send: (item: T) => Promise<void>) {
    this.#width = width;
    this.#send = send;
  }

  /** Waiting and under way. */
  get size(): number {
    return this.#waiting.length - this.#head + this.#busy;
  }

  push(item: T): void {
    this.#waiting.push(item);
    this.#pump();
  }

  clear(): void {
    this.#waiting = [];
    this.#head = 0;
  }

  #pump(): void {
    while (this.#busy < this.#width && this.#head < this.#waiting.length) {
      const item = this.#waiting[this.#head++] as T;
      this.#busy++;
      void this.#sendOne(item);
    }
    if (this.#head === this.#waiting.length) this.clear();
  }

  async #sendOne(item: T): Promise<void> {
    try {
      await this.#send(item);
    } finally {
      this.#busy--;
      this.#pump();
    }
  }
}
