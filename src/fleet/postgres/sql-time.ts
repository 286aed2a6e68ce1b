/** SQL: a `timestamptz` as epoch milliseconds. */
export function epochMs(column: string): string {
  return `floor(extract(epoch FROM ${column}) * 1000)::bigint`;
}

/** SQL: an `interval` from a parameter in milliseconds. */
export function intervalOf(parameter: string): string {
  return `(${parameter}::float8 * interval '1 millisecond')`;
}
