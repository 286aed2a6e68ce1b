const mask = "***";

/**
 * A token or webhook secret, wrapped so that no log, error, JSON or inspection shows it by accident.
 * Only `reveal` gives the text, and only those who send or check it call that.
 */
export class Secret {
  readonly #text: string | null;
  readonly #absence: Error | null;

  private constructor(text: string | null, absence: Error | null) {
    this.#text = text;
    this.#absence = absence;
  }

  static of(text: string): Secret {
    return new Secret(text, null);
  }

  /** A secret that is not there; whoever needs it is told why. Work without it goes on. */
  static absent(why: Error): Secret {
    return new Secret(null, why);
  }

  get known(): boolean {
    return this.#text !== null;
  }

  reveal(): string {
    if (this.#text === null) throw this.#absence ?? new Error("broken promise: a secret has a text");
    return this.#text;
  }

  toString(): string {
    return mask;
  }

  toJSON(): string {
    return mask;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return mask;
  }
}
