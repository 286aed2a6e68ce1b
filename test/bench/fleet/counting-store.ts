import { once } from "node:events";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { startS3 } from "../../support/export/s3-server.ts";

/** Requests to an object store since the last reset. */
interface StoreCounts {
  /** By method; a list is counted as `LIST`. */
  readonly requests: Readonly<Record<string, number>>;
  /** Of bodies, without headers. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

/** A real S3 server with the bucket `fleet`, behind a proxy that counts. */
export interface CountingStore {
  readonly url: string;
  counts(): StoreCounts;
  reset(): void;
  close(): Promise<void>;
}

const none: StoreCounts = { requests: {}, sentBytes: 0, receivedBytes: 0 };

/** Signatures name the proxy's address: the server behind it sees the header as it was sent. */
export async function startCountingStore(folder: string): Promise<CountingStore> {
  const behind = await startS3(folder, "fleet");
  const { port } = new URL(behind.url);
  let counts = none;
  const add = (more: Partial<StoreCounts>) => (counts = { ...counts, ...more });
  const server = createServer((incoming: IncomingMessage, response: ServerResponse) => {
    const kind = incoming.url?.includes("list-type=2") ? "LIST" : (incoming.method ?? "");
    add({ requests: { ...counts.requests, [kind]: (counts.requests[kind] ?? 0) + 1 } });
    incoming.on("data", ({ length }: Buffer) => add({ sentBytes: counts.sentBytes + length }));
    const { method, url: path, headers } = incoming;
    const outgoing = request({ host: "127.0.0.1", port, method, path, headers }, (answer) => {
      answer.on("data", ({ length }: Buffer) => add({ receivedBytes: counts.receivedBytes + length }));
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    outgoing.on("error", () => response.destroy());
    incoming.pipe(outgoing);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts: () => counts,
    reset: () => void (counts = none),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await behind.close();
    },
  };
}
