const backslash = 0x5c;

/** Is the string at `[start, end)`, quotes included, this key, however it is written? */
export function isKey(bytes: Uint8Array, start: number, end: number, key: Uint8Array): boolean {
  if (end - start - 2 === key.length) {
    let same = 0;
    while (same < key.length && bytes[start + 1 + same] === key[same]) same++;
    if (same === key.length) return true;
  }
  return isEscaped(bytes, start, end) && decodeString(bytes, start, end) === Buffer.from(key).toString();
}

function isEscaped(bytes: Uint8Array, start: number, end: number): boolean {
  while (start < end && bytes[start] !== backslash) start++;
  return start < end;
}

/** The string at `[start, end)`, quotes included; undefined when it is none that JSON allows. */
export function decodeString(bytes: Uint8Array, start: number, end: number): string | undefined {
  try {
    return JSON.parse(Buffer.from(bytes.subarray(start, end)).toString()) as string;
  } catch {
    return undefined;
  }
}
