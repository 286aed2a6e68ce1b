/** A request as it left the mirror. */
export interface SentRequest {
  readonly origin: string;
  /** The value of `Authorization`, if there was one. */
  readonly authorization: string | null;
}

/** I9: where a secret stands that has no business there: log lines, files, errors. */
export function leaks(secrets: readonly string[], places: ReadonlyMap<string, string | Buffer>): string[] {
  return [...places].flatMap(([place, content]) =>
    secrets.filter((secret) => content.includes(secret)).map(() => `I9 a secret stands in ${place}`),
  );
}

/** I9: requests that carried the token to another origin than the service's. */
export function strayRequests(origin: string, requests: readonly SentRequest[]): string[] {
  return requests
    .filter((request) => request.origin !== origin && request.authorization !== null)
    .map((request) => `I9 the token was sent to ${request.origin}`);
}

/** Notes requests that do not go through the transport, and answers none. Returns what ends that. */
export function watchStrayRequests(seen: SentRequest[]): () => void {
  const original = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    const request = new Request(input, init);
    const { origin } = new URL(request.url);
    seen.push({ origin, authorization: request.headers.get("authorization") });
    return Promise.reject(new Error("the simulation has no other network"));
  };
  return () => void (globalThis.fetch = original);
}
