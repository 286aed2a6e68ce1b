/** Keeps the newest entries, oldest first; a long run stays small. */
export class BoundedLog<T> {
  readonly #most: number;
  readonly #entries: T[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  add(entry: T): void {
    this.#entries.push(entry);
    if (this.#entries.length > this.#most * 1.1) this.#entries.splice(0, this.#entries.length - this.#most);
  }

  list(): T[] {
    return this.#entries.slice(-this.#most);
  }
}
