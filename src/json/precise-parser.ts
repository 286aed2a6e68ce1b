import type { MirrorError } from "../base/errors.ts";
import { numberLiteral, type JsonObject, type JsonValue } from "./literal.ts";
import { describeCharacter, malformed } from "./malformed.ts";

/**
 * Parses JSON as RFC 8259 defines it, with exact numbers. Slow: see lossless.ts. Throws MirrorError `protocol`.
 *
 * @param offsetBytes where the text stands in its answer; the error counts from there
 */
export function parsePrecisely(text: string, maxDepth: number, offsetBytes: number): JsonValue {
  return new PreciseParser(text, maxDepth, offsetBytes).document();
}

const words: ReadonlyMap<string, JsonValue> = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
]);
const digits = /[0-9]+/y;
/** In a string: no quote, backslash or control character. */
const plainCharacters = /[ !#-[\]-\uffff]+/y;

class PreciseParser {
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #offsetBytes: number;
  #at = 0;
  #depth = 0;

  constructor(text: string, maxDepth: number, offsetBytes: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
    this.#offsetBytes = offsetBytes;
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
    if (/[-0-9]/.test(first)) return this.#number();
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
    this.#skip(plainCharacters);
    while (this.#skip(/\\/y)) {
      this.#escape();
      this.#skip(plainCharacters);
    }
    const isAtEnd = this.#at === this.#text.length;
    this.#expect(/"/y, isAtEnd ? "the rest of a string" : "no control character in a string");
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  #escape(): void {
    if (this.#skip(/["\\/bfnrt]/y)) return;
    this.#expect(/u/y, "an escape");
    for (let left = 4; left > 0; left--) this.#expect(/[0-9a-fA-F]/y, "a hexadecimal digit");
  }

  #number(): JsonValue {
    const start = this.#at;
    this.#skip(/-/y);
    if (!this.#skip(/0/y)) this.#expect(digits, "a digit");
    if (this.#skip(/\./y)) this.#expect(digits, "a digit");
    if (this.#skip(/[eE][-+]?/y)) this.#expect(digits, "a digit");
    return numberLiteral(this.#text.slice(start, this.#at));
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
    this.#skip(/[ \t\n\r]+/y);
  }

  #peek(): string {
    return this.#text.charAt(this.#at);
  }

  #expect(pattern: RegExp, expected: string): void {
    if (!this.#skip(pattern)) throw this.#unexpected(expected);
  }

  /** Skips what matches a sticky pattern here; false where nothing does. */
  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  /** The character here is not what JSON allows. */
  #unexpected(expected: string): MirrorError {
    const before = Buffer.byteLength(this.#text.slice(0, this.#at));
    return malformed(
      this.#offsetBytes + before,
      expected,
      describeCharacter(this.#text.codePointAt(this.#at)),
    );
  }
}
