const backslash = 0x5c;

/** Is the string at `[start, end)`, quotes included, this key? With escapes it is longer, never shorter. */
export function isKey(bytes: Uint8Array, start: number, end: number, key: Uint8Array): boolean {
  const length = end - start - 2;
  if (length <= key.length) return length === key.length && standsAt(bytes, start + 1, key);
  return isEscaped(bytes, start, end) && decodeString(bytes, start, end) === Buffer.from(key).toString();
}

function standsAt(bytes: Uint8Array, at: number, key: Uint8Array): boolean {
  return key.every((code, index) => bytes[at + index] === code);
}

function isEscaped(bytes: Uint8Array, start: number, end: number): boolean {
  while (start < end && bytes[start] !== backslash) start++;
  return start < end;
}

/** The string at `[start, end)`, quotes included; undefined when it is no valid JSON. */
export function decodeString(bytes: Uint8Array, start: number, end: number): string | undefined {
  try {
    return JSON.parse(Buffer.from(bytes.subarray(start, end)).toString()) as string;
  } catch {
    return undefined;
  }
}
