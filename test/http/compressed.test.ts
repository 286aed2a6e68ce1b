import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { ProtocolError } from "../../src/connector/service-errors.ts";
import { get } from "../support/http/http-client.ts";
import { failureOf, jsonHead, serviceWith, type Answering } from "../support/http/http.ts";

const serviceOnce = (answering: Answering) => serviceWith(answering, { attempts: 1 });

describe("compressed answers", () => {
  const content = JSON.stringify({
    data: Array.from({ length: 20_000 }, (_, id) => ({ id, name: `Č${id}` })),
  });

  test.each([
    ["gzip", gzipSync(content)],
    ["x-gzip", gzipSync(content)],
    ["GZIP", gzipSync(content)],
    ["deflate", deflateSync(content)],
    ["br", brotliCompressSync(content)],
    ["identity", Buffer.from(content)],
  ])("%s is decompressed to the original bytes", async (encoding, body) => {
    const { service, http } = await serviceOnce(
      (answer) => void answer.writeHead(200, { ...jsonHead, "content-encoding": encoding }).end(body),
    );
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
    const { http } = await serviceOnce(
      (answer) => void answer.writeHead(200, { ...jsonHead, "content-encoding": encoding }).end(body),
    );
    const error = await failureOf(http.send(get("/x")));
    expect(error).toBeInstanceOf(ProtocolError);
    expect(error).toMatchObject({ retryable: true, requestId: null });
  });

  // Fault: service | an answer that unpacks to more than allowed | a server in the service's place | refused at the cap
  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])("%s that unpacks to one byte more than allowed is refused", async (encoding, pack) => {
    const sizes = [200_000, 200_001];
    const { http } = await serviceWith(
      (answer, _, index) =>
        void answer
          .writeHead(200, { ...jsonHead, "content-encoding": encoding })
          .end(pack(Buffer.alloc(sizes[index] ?? 0, 32))),
      { attempts: 1, maxResponseBytes: 200_000 },
    );
    expect((await http.send(get("/x"))).body).toHaveLength(200_000);
    const error = await failureOf(http.send(get("/x")));
    expect(error).toBeInstanceOf(ProtocolError);
    expect(error).toMatchObject({
      retryable: false,
      message: "GET /x: the answer is larger than 200000 bytes",
    });
  });

  test("few bytes may be much content", async () => {
    const long = Buffer.alloc(5_000_000, 32);
    const { http } = await serviceOnce(
      (answer) => void answer.writeHead(200, { ...jsonHead, "content-encoding": "gzip" }).end(gzipSync(long)),
    );
    expect((await http.send(get("/x"))).body.equals(long)).toBe(true);
  });

  test("an empty body with an encoding is empty", async () => {
    const { http } = await serviceOnce(
      (answer) => void answer.writeHead(204, { "content-encoding": "gzip" }).end(),
    );
    expect((await http.send({ method: "DELETE", path: "/x", expect: "nothing" })).body).toHaveLength(0);
  });

  test("errors may be compressed too", async () => {
    const { http } = await serviceOnce(
      (answer) =>
        void answer
          .writeHead(404, { ...jsonHead, "content-encoding": "gzip" })
          .end(gzipSync('{"message":"No query results for model."}')),
    );
    expect(await failureOf(http.send(get("/x")))).toMatchObject({
      serviceMessage: "No query results for model.",
    });
  });
});
