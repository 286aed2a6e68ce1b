import { numberLiteral, type JsonObject, type JsonValue } from "./literal.ts";

/** The character at `at` is not what JSON allows there. */
export class Unexpected extends Error {
  readonly at: number;
  readonly expected: string;

  constructor(at: number, expected: string) {
    super(`expected ${expected} at character ${at}`);
    this.at = at;
    this.expected = expected;
  }
}

/** Parses JSON as RFC 8259 defines it, with exact numbers. Slow: see lossless.ts. Throws Unexpected. */
export function parsePrecisely(text: string, maxDepth: number): JsonValue {
  return new PreciseParser(text, maxDepth).document();
}

const words: ReadonlyMap<string, JsonValue> = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
]);
const hexDigit = /^[0-9a-fA-F]$/;

class PreciseParser {
  readonly #text: string;
  readonly #maxDepth: number;
  #at = 0;
  #depth = 0;

  constructor(text: string, maxDepth: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
  }

  document(): JsonValue {
    const value = this.#value();
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#unexpected("nothing after the document");
    return value;
  }

  #value(): JsonValue {
    this.#skipSpace();
    const first = this.#peek();
    if (first === "{") return this.#nested(() => this.#object());
    if (first === "[") return this.#nested(() => this.#array());
    if (first === '"') return this.#string();
    if (first === "-" || isDigit(first)) return this.#number();
    return this.#word();
  }

  #nested<T>(read: () => T): T {
    if (this.#depth === this.#maxDepth) throw this.#unexpected(`at most ${this.#maxDepth} levels`);
    this.#depth++;
    this.#at++;
    const value = read();
    this.#depth--;
    return value;
  }

  #object(): JsonObject {
    if (this.#took("}")) return {};
    const members: [string, JsonValue][] = [];
    do {
      this.#skipSpace();
      if (this.#peek() !== '"') throw this.#unexpected("a key");
      const key = this.#string();
      if (!this.#took(":")) throw this.#unexpected('":"');
      members.push([key, this.#value()]);
    } while (this.#took(","));
    if (!this.#took("}")) throw this.#unexpected('"," or "}"');
    // Also makes `__proto__` an ordinary key.
    return Object.fromEntries(members);
  }

  #array(): JsonValue[] {
    const array: JsonValue[] = [];
    if (this.#took("]")) return array;
    do array.push(this.#value());
    while (this.#took(","));
    if (!this.#took("]")) throw this.#unexpected('"," or "]"');
    return array;
  }

  #string(): string {
    const start = this.#at++;
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === 0x22) break;
      if (Number.isNaN(code)) throw this.#unexpected("the rest of a string");
      if (code < 0x20) throw this.#unexpected("no control character in a string");
      this.#at++;
      if (code === 0x5c) this.#escape();
    }
    this.#at++;
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  #escape(): void {
    const kind = this.#peek();
    if (kind === "" || !'"\\/bfnrtu'.includes(kind)) throw this.#unexpected("an escape");
    this.#at++;
    for (let left = kind === "u" ? 4 : 0; left > 0; left--) {
      if (!hexDigit.test(this.#peek())) throw this.#unexpected("a hexadecimal digit");
      this.#at++;
    }
  }

  #number(): JsonValue {
    const start = this.#at;
    if (this.#peek() === "-") this.#at++;
    if (this.#peek() === "0") this.#at++;
    else this.#digits();
    if (this.#peek() === ".") {
      this.#at++;
      this.#digits();
    }
    if (this.#peek().toLowerCase() === "e") {
      this.#at++;
      if (this.#peek() === "+" || this.#peek() === "-") this.#at++;
      this.#digits();
    }
    return numberLiteral(this.#text.slice(start, this.#at));
  }

  #digits(): void {
    if (!isDigit(this.#peek())) throw this.#unexpected("a digit");
    while (isDigit(this.#peek())) this.#at++;
  }

  #word(): JsonValue {
    for (const [word, value] of words) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    throw this.#unexpected("a value");
  }

  #took(character: string): boolean {
    this.#skipSpace();
    if (this.#peek() !== character) return false;
    this.#at++;
    return true;
  }

  #skipSpace(): void {
    while (this.#peek() !== "" && " \t\n\r".includes(this.#peek())) this.#at++;
  }

  #peek(): string {
    return this.#text.charAt(this.#at);
  }

  #unexpected(expected: string): Unexpected {
    return new Unexpected(this.#at, expected);
  }
}

function isDigit(character: string): boolean {
  return character >= "0" && character <= "9";
}
