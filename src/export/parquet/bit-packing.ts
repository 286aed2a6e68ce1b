/** Parquet's hybrid of runs and packed bits, for levels and dictionary indexes. */

/** `count` times the same value. */
export function repeated(value: number, bitWidth: number, count: number): Uint8Array {
  const bytes = varint(count * 2);
  for (let left = bitWidth, rest = value; left > 0; left -= 8, rest >>>= 8) bytes.push(rest & 0xff);
  return Uint8Array.from(bytes);
}

/** The first `count` values, packed; widths up to 24 bits. */
export function packed(values: ArrayLike<number>, bitWidth: number, count: number): Uint8Array {
  const groups = Math.ceil(count / 8);
  const head = varint(groups * 2 + 1);
  const out = new Uint8Array(head.length + groups * bitWidth);
  out.set(head);
  let at = head.length;
  let bits = 0;
  let held = 0;
  for (let i = 0; i < count; i++) {
    bits |= (values[i] as number) << held;
    held += bitWidth;
    while (held >= 8) {
      out[at++] = bits & 0xff;
      bits >>>= 8;
      held -= 8;
    }
  }
  if (held > 0) out[at] = bits & 0xff;
  return out;
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  bytes.push(rest);
  return bytes;
}

export function bitWidthOf(largest: number): number {
  return largest === 0 ? 0 : 32 - Math.clz32(largest);
}
