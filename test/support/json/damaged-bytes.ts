import { array, constantFrom, double, integer, oneof, tuple, type Arbitrary } from "fast-check";

/** What happens to bytes on a bad day. */
export type Damage = readonly [
  kind: "cut" | "drop" | "insert" | "replace" | "repeat",
  at: number,
  byte: number,
];

export const damages: Arbitrary<Damage[]> = array(
  tuple(
    constantFrom("cut", "drop", "insert", "replace", "repeat"),
    double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
    oneof(constantFrom(...Buffer.from('{}[]",:\\ 0e-.tn')), integer({ min: 0, max: 255 })),
  ),
  { minLength: 1, maxLength: 3 },
);

export function damaged(body: Buffer, list: readonly Damage[]): Buffer {
  return list.reduce((bytes, [kind, share, byte]) => {
    const at = Math.floor(share * bytes.length);
    const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
    if (kind === "cut") return head;
    if (kind === "drop") return Buffer.concat([head, tail.subarray(1)]);
    if (kind === "insert") return Buffer.concat([head, Buffer.of(byte), tail]);
    if (kind === "replace") return Buffer.concat([head, Buffer.of(byte), tail.subarray(1)]);
    return Buffer.concat([head, tail.subarray(0, 8), tail]);
  }, body);
}
