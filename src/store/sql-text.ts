/** `"name"` with inner quotes doubled: names can come from the service. */
export function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}
