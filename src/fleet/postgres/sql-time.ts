/** SQL: a `timestamptz` as epoch milliseconds. */
export function epochMs(column: string): string {
  return `floor(extract(epoch FROM ${column}) * 1000)::bigint`;
}

/** SQL: a `timestamptz` as ISO, as JSON has it. */
export function isoText(column: string): string {
  return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/** SQL: an `interval` from a parameter in milliseconds. */
export function intervalOf(parameter: string): string {
  return `(${parameter}::float8 * interval '1 millisecond')`;
}
