const mask = "***";

/**
 * A token or webhook secret, wrapped so that no log, error, JSON or inspection shows it by accident (I9).
 * Only `reveal` returns the text; only code that sends or checks it calls that.
 */
export class Secret {
  readonly #text: string | Error;

  /** @param text an Error where it is missing: `reveal` throws it, and work that does not need it goes on */
  constructor(text: string | Error) {
    this.#text = text;
  }

  get known(): boolean {
    return typeof this.#text === "string";
  }

  /** Why it is missing; null when it is known. */
  get problem(): string | null {
    return typeof this.#text === "string" ? null : this.#text.message;
  }

  /** The text. Throws the Error where there is none. */
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

export const redacted = "[redacted]";

/**
 * Replaces secrets in texts by `redacted`: as they are, and as URLs, base64 (also within other bytes) and JSON write
 * them. Redact first, shorten afterwards: a cut secret is not found any more. A text takes as long with the secrets of
 * hundreds of companies as with those of one, which no regular expression does.
 */
export class Redactor {
  private readonly known = new Set<string>();
  /** What a secret is written as, by its first characters, the longest first. */
  private readonly forms = new Map<number, readonly string[]>();
  /** Has any form this key? Says no for nearly every place of a text, twenty times as fast as the map. */
  private readonly keys = new Uint8Array(keyCount);
  /** Those with fewer characters than a key. */
  private short: readonly string[] = [];

  add(secrets: readonly string[]): void {
    for (const secret of secrets) {
      if (secret === "" || this.known.has(secret)) continue;
      this.known.add(secret);
      for (const form of formsOf(secret)) this.addForm(form);
    }
  }

  replace(text: string): string {
    let result = "";
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      if (this.keys[keyAt(text, at)] === 0 && this.short.length === 0) continue;
      const form = this.formAt(text, at);
      if (form === undefined) continue;
      result += text.slice(from, at) + redacted;
      from = at + form.length;
      at = from - 1;
    }
    return from === 0 ? text : result + text.slice(from);
  }

  private addForm(form: string): void {
    const key = keyAt(form, 0);
    if (form.length < keyLength) this.short = withForm(this.short, form);
    else this.forms.set(key, withForm(this.forms.get(key) ?? [], form));
    this.keys[key] = 1;
  }

  private formAt(text: string, at: number): string | undefined {
    const isHere = (form: string) => text.startsWith(form, at);
    return this.forms.get(keyAt(text, at))?.find(isHere) ?? this.short.find(isHere);
  }
}

function withForm(forms: readonly string[], form: string): readonly string[] {
  return forms.includes(form) ? forms : [...forms, form].toSorted((a, b) => b.length - a.length);
}

const keyLength = 3;
const keyCount = 2 ** 16;

/** A number for the characters at a place; other characters may have the same. */
function keyAt(text: string, at: number): number {
  const key = text.charCodeAt(at) ^ (text.charCodeAt(at + 1) << 5) ^ (text.charCodeAt(at + 2) << 10);
  return key & (keyCount - 1);
}

export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const redactor = new Redactor();
  redactor.add(secrets);
  return (text) => redactor.replace(text);
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
