import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { HttpOptions } from "../../src/http/http-transport.ts";
import { get } from "../support/http/http-client.ts";
import { rejectionOf } from "../support/errors.ts";
import { jsonHead, serviceWith } from "../support/http/http.ts";

const data = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `Č${id}` }));
const content = JSON.stringify({ data });

type Options = Partial<HttpOptions>;

/** A service whose answers have these bodies one after another, and one attempt. */
const packed = (encoding: string, bodies: readonly Buffer[], options: Options = {}, status = 200) =>
  serviceWith(
    (answer, _, index) =>
      void answer.writeHead(status, { ...jsonHead, "content-encoding": encoding }).end(bodies[index]),
    { attempts: 1, ...options },
  );

test.each([
  ["gzip", gzipSync(content)],
  ["x-gzip", gzipSync(content)],
  ["GZIP", gzipSync(content)],
  ["deflate", deflateSync(content)],
  ["br", brotliCompressSync(content)],
  ["identity", Buffer.from(content)],
])("%s is decompressed to the original bytes", async (encoding, body) => {
  const { service, http } = await packed(encoding, [body]);
  expect((await http.send(get("/x"))).body.toString()).toBe(content);
  expect(service.asked[0]?.headers["accept-encoding"]).toBe("gzip, deflate, br");
});

// Fault: service | an unknown encoding, a false one, compressed content cut short | a server in the service's place | a retryable protocol error
test.each([
  ["an encoding nobody asked for", "zstd", Buffer.from("x")],
  ["two encodings", "gzip, br", gzipSync("{}")],
  ["content that is not what it says", "gzip", Buffer.from('{"plain":1}')],
  ["content cut short", "gzip", gzipSync(content).subarray(0, 500)],
  ["brotli that is none", "br", Buffer.from("not brotli at all")],
])("%s is a retryable protocol error", async (_, encoding, body) => {
  const { http } = await packed(encoding, [body]);
  const error = await rejectionOf(http.send(get("/x")));
  expect(error).toMatchObject({ kind: "protocol", retryable: true, requestId: null });
});

// Fault: service | an answer that unpacks to more than allowed | a server in the service's place | refused at the cap
test.each([
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["br", brotliCompressSync],
])("%s that unpacks to one byte more than allowed is refused", async (encoding, pack) => {
  const bodies = [200_000, 200_001].map((sizeBytes) => pack(Buffer.alloc(sizeBytes, 32)));
  const { http } = await packed(encoding, bodies, { maxResponseBytes: 200_000 });
  expect((await http.send(get("/x"))).body).toHaveLength(200_000);
  expect(await rejectionOf(http.send(get("/x")))).toMatchObject({
    kind: "protocol",
    retryable: false,
    message: "GET /x: the answer is larger than 200000 bytes",
  });
});

test("few bytes may be much content, an empty body is empty, and errors may be compressed too", async () => {
  const long = Buffer.alloc(5_000_000, 32);
  const much = await packed("gzip", [gzipSync(long)]);
  expect((await much.http.send(get("/x"))).body.equals(long)).toBe(true);
  const empty = await packed("gzip", [], {}, 204);
  const removed = await empty.http.send({ method: "DELETE", path: "/x", expect: "nothing" });
  expect(removed.body).toHaveLength(0);
  const missing = await packed("gzip", [gzipSync('{"message":"No such record."}')], {}, 404);
  const error = await rejectionOf(missing.http.send(get("/x")));
  expect(error).toMatchObject({ serviceMessage: "No such record." });
});
