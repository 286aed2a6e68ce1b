import { isSpace } from "./scan.ts";

/** The bytes of one record, and its `id` as it is written; null without a usable one. */
interface Slice {
  readonly slice: Buffer;
  readonly id: string | null;
}

/** The slices of one array, held as offsets: three numbers for each record. */
export class Slices implements Iterable<Slice> {
  readonly #body: Buffer;
  /** Start, end and the offset of the id's value (0 without one) of each slice. */
  readonly #offsets: number[] = [];

  constructor(body: Buffer) {
    this.#body = body;
  }

  add(start: number, end: number, idAt: number): void {
    this.#offsets.push(start, end, idAt);
  }

  get count(): number {
    return this.#offsets.length / 3;
  }

  slice(index: number): Buffer {
    return this.#body.subarray(this.#offset(index, 0), this.#offset(index, 1));
  }

  id(index: number): string | null {
    return integerAt(this.#body, this.#offset(index, 2));
  }

  *[Symbol.iterator](): Generator<Slice> {
    for (let index = 0; index < this.count; index++) yield { slice: this.slice(index), id: this.id(index) };
  }

  #offset(index: number, which: number): number {
    const offset = this.#offsets[index * 3 + which];
    if (offset === undefined) throw new RangeError(`no slice ${index} of ${this.count}`);
    return offset;
  }
}

/** 20 characters hold every 64-bit integer; longer ones are no ids. */
const maxIdBytes = 20;

/** The integer that a record has at `at`, a literal or a text of one; null for any other value, and for `at` 0. */
export function integerAt(bytes: Buffer, at: number): string | null {
  if (at === 0) return null;
  const isText = bytes[at] === 0x22;
  const start = isText ? at + 1 : at;
  const first = bytes[start] === 0x2d ? start + 1 : start;
  let end = first;
  while (isDigit(bytes[end])) end++;
  if (end === first || end - start > maxIdBytes) return null;
  if (isText ? bytes[end] !== 0x22 : !endsValue(bytes[end])) return null;
  if (bytes[first] === 0x30 && end > first + 1) return null;
  return bytes.toString("latin1", start, end);
}

function isDigit(code: number | undefined): boolean {
  return code !== undefined && code >= 0x30 && code <= 0x39;
}

/** White space, `,` or `}`. */
function endsValue(code: number | undefined): boolean {
  return code === 0x2c || code === 0x7d || isSpace(code);
}
