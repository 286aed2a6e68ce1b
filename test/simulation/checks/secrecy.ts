/** I9: where a secret stands that has no business there: log lines, files, errors. */
export function leaks(secrets: readonly string[], places: ReadonlyMap<string, string | Buffer>): string[] {
  return [...places].flatMap(([place, content]) =>
    secrets.filter((secret) => content.includes(secret)).map(() => `I9 a secret stands in ${place}`),
  );
}
