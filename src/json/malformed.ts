import { MirrorError } from "../base/errors.ts";

/**
 * The answer is not the JSON it should be. Retryable: half an answer is the likeliest cause, and the
 * next one may be whole. Names the place and one character of it, never more: answers may hold secrets.
 */
export function malformed(offsetBytes: number, expected: string, found: string): MirrorError {
  return new MirrorError(
    "protocol",
    `the answer is not the JSON it should be: at byte ${offsetBytes} expected ${expected}, found ${found}`,
    { retryable: true, hint: "Try again; if it stays so, report the request id to the service." },
  );
}

/** The byte at `at` as a person reads it. */
export function malformedAt(bytes: Uint8Array, at: number, expected: string): MirrorError {
  return malformed(Math.min(at, bytes.length), expected, describeCharacter(bytes[at]));
}

/** `"x"` for what prints, `0x1F` for what does not, `the end` for nothing. */
export function describeCharacter(code: number | undefined): string {
  if (code === undefined) return "the end";
  if (code > 0x20 && code < 0x7f) return `"${String.fromCharCode(code)}"`;
  return `0x${code.toString(16).toUpperCase().padStart(2, "0")}`;
}
