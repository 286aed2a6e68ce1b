/**
 * A record's id: a JavaScript number while that is exact, a bigint beyond 2^53. Always in this
 * canonical form, so that `===` and Map keys are right.
 */
export type RecordId = number | bigint;

const maxRowId = 9_223_372_036_854_775_807n;

/** From a number literal or digits; null for anything SQLite cannot hold as a rowid of a record. */
export function recordId(text: string): RecordId | null {
  // Nearly all of them: without a bigint that becomes a number again.
  if (/^\d{1,15}$/.test(text)) return Number(text);
  if (!/^-?\d{1,19}$/.test(text)) return null;
  const value = BigInt(text);
  if (value < 0n || value > maxRowId) return null;
  return canonicalId(value);
}

export function canonicalId(id: RecordId): RecordId {
  if (typeof id === "number") return id;
  return id <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(id) : id;
}
