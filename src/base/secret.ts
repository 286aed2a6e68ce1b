const mask = "***";

/**
 * A token or webhook secret, wrapped so that no log, error, JSON or inspection shows it by accident (I9).
 * Only `reveal` returns the text; only code that sends or checks it calls that.
 */
export class Secret {
  readonly #text: string | Error;

  private constructor(text: string | Error) {
    this.#text = text;
  }

  static of(text: string): Secret {
    return new Secret(text);
  }

  /** A missing secret: `reveal` throws `why`. Work that does not need it goes on. */
  static absent(why: Error): Secret {
    return new Secret(why);
  }

  /** False for a missing secret. */
  get known(): boolean {
    return typeof this.#text === "string";
  }

  /** Why it is missing; null when it is known. */
  get problem(): string | null {
    return typeof this.#text === "string" ? null : this.#text.message;
  }

  /** The text. Throws the reason given to `absent` when there is none. */
  reveal(): string {
    if (typeof this.#text === "string") return this.#text;
    throw this.#text;
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

/** Replaces a secret in a text. */
export const redacted = "[redacted]";

/**
 * A function that replaces secrets in a text by `redacted`: as they are, and as URLs, base64 (also within other bytes)
 * and JSON write them. Redact first, shorten afterwards: a cut secret is not found any more.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const forms = [...new Set(secrets.filter((secret) => secret !== "").flatMap(formsOf))];
  if (forms.length === 0) return (text) => text;
  const longestFirst = forms.toSorted((a, b) => b.length - a.length);
  const pattern = new RegExp(longestFirst.map(escaped).join("|"), "g");
  return (text) => text.replace(pattern, redacted);
}

function formsOf(secret: string): string[] {
  const url = encodeURIComponent(secret);
  const lowerUrl = url.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  const json = JSON.stringify(secret).slice(1, -1);
  const forms = [secret, url, lowerUrl, url.replaceAll("%20", "+"), json, json.replaceAll("/", "\\/")];
  return [...forms, ...base64Forms(secret)];
}

/** Shorter forms could be part of other text. */
const minBase64Length = 8;

/**
 * Base64 of longer bytes that contain the secret (`user:token`): three alignments, each without the outer
 * characters, which also depend on the neighbours.
 */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret, "utf8");
  const cores = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
  });
  const whole = bytes.toString("base64").replace(/=+$/, "");
  const forms = [whole, ...cores].filter((form) => form.length >= minBase64Length);
  return forms.flatMap((form) => [form, form.replaceAll("+", "-").replaceAll("/", "_")]);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
