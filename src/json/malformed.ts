import { MirrorError } from "../base/errors.ts";

/**
 * The answer is not valid JSON. Retryable: half an answer is the likeliest cause. The message shows the place and
 * one character, never more: answers may hold secrets (I9).
 */
export function malformed(offsetBytes: number, expected: string, found: string): MirrorError {
  return new MirrorError(
    "protocol",
    `the answer is not the JSON it should be: at byte ${offsetBytes} expected ${expected}, found ${found}`,
    { retryable: true, hint: "Try again; if it stays so, report the request id to the service." },
  );
}

/** The same for a place in these bytes. */
export function malformedAt(bytes: Uint8Array, at: number, expected: string): MirrorError {
  return malformed(Math.min(at, bytes.length), expected, describeCharacter(bytes[at]));
}

/** `"x"` for a printable character, `0x1F` for another one, `the end` for undefined. */
export function describeCharacter(code: number | undefined): string {
  if (code === undefined) return "the end";
  if (code > 0x20 && code < 0x7f) return `"${String.fromCharCode(code)}"`;
  return `0x${code.toString(16).toUpperCase().padStart(2, "0")}`;
}
