import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, brotliCompressSync, deflateSync } from "node:zlib";
import { expect, test, describe } from "vitest";
import { get, lenientRateLimiter } from "../support/http/http-client.ts";
import { rejectionOf } from "../support/errors.ts";
import { json, page, serviceWith, jsonHead, type Answering } from "../support/http/http.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { systemClock } from "../../src/base/clock.ts";
import type { HttpOptions } from "../../src/http/http-transport.ts";

const pdfHead = { "content-type": "application/pdf" };
const protocol = { kind: "protocol", retryable: true };

// Fault: service | HTML, text, nothing or an empty body in place of JSON, with a 2xx status | a server in the service's place | a retryable protocol error
test.each([
  ["HTML", { "content-type": "text/html" }, "<html>", 200],
  ["no content type", {}, "{}", 200],
  ["plain text", { "content-type": "text/plain" }, "{}", 200],
  ["an empty body", { "content-type": "application/json" }, "", 200],
  ["no content", {}, "", 204],
])("%s in place of JSON is a retryable error", async (_, headers, body, status) => {
  const { service, http } = await serviceWith((answer) => void answer.writeHead(status, headers).end(body), {
    attempts: 2,
  });
  expect(await rejectionOf(http.send(get("/x")))).toMatchObject(protocol);
  expect(service.asked).toHaveLength(2);
});

test("other JSON media types are accepted, and bytes of any type except an HTML page", async () => {
  const bytes = Buffer.from([37, 80, 68, 70, 0, 255]);
  const { http } = await serviceWith((answer, { url }) => {
    if (url.endsWith("page")) return page(answer);
    const type = url.endsWith("pdf") ? "application/pdf" : "Application/Vnd.Api+JSON; charset=utf-8";
    answer.writeHead(200, { "content-type": type }).end(url.endsWith("pdf") ? bytes : "{}");
    return undefined;
  });
  expect((await http.send(get("/x"))).status).toBe(200);
  expect((await http.send(get("/pdf", { expect: "bytes" }))).body).toEqual(bytes);
  expect(await rejectionOf(http.send(get("/page", { expect: "bytes" })))).toMatchObject(protocol);
});

test("bytes go into a file, unpacked, and replace what an attempt before left there", async () => {
  const { http } = await serviceWith((answer, { url }) => {
    const file = Buffer.alloc(url.endsWith("empty") ? 0 : 100_000, "%PDF");
    const isPacked = !url.endsWith("plain");
    answer.writeHead(200, { ...pdfHead, ...(isPacked && { "content-encoding": "gzip" }) });
    answer.end(isPacked && file.length > 0 ? gzipSync(file) : file);
  });
  const into = join(tempFolder(), "answer");
  for (const [url, size] of Object.entries({ "/plain": 100_000, "/packed": 100_000, "/empty": 0 })) {
    const { body } = await http.send(get(url, { expect: "bytes", into }));
    const isWhole = readFileSync(into).equals(Buffer.alloc(size, "%PDF"));
    expect([url, body.length, isWhole]).toEqual([url, 0, true]);
  }
});

// Fault: files | a file for an answer cannot be written | a file in the place of its folder | an error of the disk, not of the network; nothing is tried again
test("a file that cannot be written is an error of the disk, and asks once", async () => {
  const { http, service } = await serviceWith((answer) => void answer.writeHead(200, pdfHead).end("%PDF"));
  const folder = join(tempFolder(), "folder");
  writeFileSync(folder, "");
  const call = http.send(get("/x", { expect: "bytes", into: join(folder, "answer") }));
  expect(await rejectionOf(call)).toMatchObject({ kind: "database" });
  expect(service.asked).toHaveLength(1);
});

// Fault: service | an HTML page as the answer to a deletion | a server in the service's place | no confirmation
test("a deletion is confirmed by 204 or an empty 200, not by an HTML page", async () => {
  const { http } = await serviceWith((answer, { url }) => {
    if (url.endsWith("page")) page(answer);
    else answer.writeHead(url.endsWith("204") ? 204 : 200).end();
  });
  const remove = (path: string) => http.send({ method: "DELETE", path, expect: "nothing" });
  expect((await remove("/204")).status).toBe(204);
  expect((await remove("/200")).body).toHaveLength(0);
  expect(await rejectionOf(remove("/page"))).toMatchObject(protocol);
});

const data = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `Č${id}` }));
const content = JSON.stringify({ data });

type Options = Partial<HttpOptions>;

/** A service whose answers have these bodies one after another, and one attempt. */
function packed(encoding: string, bodies: readonly Buffer[], options: Options = {}, status = 200) {
  const head = { ...jsonHead, "content-encoding": encoding };
  const answering: Answering = (answer, _, index) => void answer.writeHead(status, head).end(bodies[index]);
  return serviceWith(answering, { attempts: 1, ...options });
}

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
  expect(await rejectionOf(http.send(get("/x")))).toMatchObject({ ...protocol, requestId: null });
});

// Fault: service | an answer that unpacks to more than allowed | a server in the service's place | refused at the cap
test.each([
  ["identity", (body: Buffer) => body],
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

test("an empty body is empty, and errors may be compressed too", async () => {
  const empty = await packed("gzip", [], {}, 204);
  const removed = await empty.http.send({ method: "DELETE", path: "/x", expect: "nothing" });
  expect(removed.body).toHaveLength(0);
  const missing = await packed("gzip", [gzipSync('{"message":"No such record."}')], {}, 404);
  const error = await rejectionOf(missing.http.send(get("/x")));
  expect(error).toMatchObject({ serviceMessage: "No such record." });
});

describe("a request", () => {
  test("goes to base_url and its path, with token, language and what it accepts", async () => {
    const { service, http } = await serviceWith((answer) => json(answer, { ok: true }));
    const answer = await http.send(
      get("/invoices", { query: { page: 2, "a b": "č&=?", none: null, gone: undefined } }),
    );
    expect(answer).toMatchObject({ status: 200, requestId: "req-1" });
    expect(answer.body.toString()).toBe('{"ok":true}');
    expect(service.asked.at(-1)?.url).toBe("/api/v1/invoices?page=2&a%20b=%C4%8D%26%3D%3F");
    expect(service.asked[0]?.headers).toMatchObject({
      authorization: "Bearer 17|s3cret/token+with=odd chars",
      "accept-language": "en",
      accept: "application/json",
      "user-agent": "fintoro-mirror/test",
    });
  });

  test("carries JSON as it was given", async () => {
    const { service, http } = await serviceWith((answer) => json(answer, {}, 201));
    const request = get("/clients", { method: "POST", json: { name: "Živý" }, idempotencyKey: "k-1" });
    expect((await http.send(request)).status).toBe(201);
    expect(service.asked[0]?.headers["content-type"]).toBe("application/json");
    expect(service.asked[0]?.headers["idempotency-key"]).toBe("k-1");
    expect(service.asked[0]?.body.toString()).toBe('{"name":"Živý"}');
  });

  test("carries a form, the same bytes in another attempt", async () => {
    const { service, http } = await serviceWith((answer, _, index) =>
      index === 0 ? json(answer, {}, 503) : json(answer, {}),
    );
    const form = new FormData();
    form.append("files", new Blob(["one"], { type: "text/plain" }), "one.txt");
    await http.send({ method: "POST", path: "/files", form, expect: "json", idempotencyKey: "k-2" });
    const [first, second] = service.asked;
    expect(first?.headers["content-type"]).toMatch(/^multipart\/form-data; boundary=/);
    expect(first?.body.toString()).toContain('filename="one.txt"');
    expect(second?.body.toString()).toBe(first?.body.toString());
  });

  test("calls `onSent` just before its bytes leave, at each attempt", async () => {
    let sent = 0;
    const seen: number[] = [];
    const { http } = await serviceWith((answer, _, index) => {
      seen.push(sent);
      json(answer, {}, index < 2 ? 500 : 200);
    });
    await http.send(get("/x", { onSent: () => void sent++ }));
    expect(seen).toEqual([1, 2, 3]);
  });

  test("asks the rate limiter in its lane for every attempt, and reports the answer to it", async () => {
    const used = { "retry-after": "0", "x-ratelimit-remaining": "0" };
    const { http, rateLimiter } = await serviceWith((answer, _, index) =>
      index === 0 ? json(answer, {}, 429, used) : json(answer, {}),
    );
    await http.send(get("/x", { lane: "webhook" }));
    expect(rateLimiter.lanes).toEqual(["webhook", "webhook"]);
    expect(rateLimiter.reports).toEqual([
      { status: 429, headers: { limit: 120, remaining: 0, retryAfterS: 0 } },
      { status: 200, headers: { limit: 120, remaining: 100, retryAfterS: null } },
    ]);
  });

  test("counts the time in which its permit is waited for", async () => {
    let nowMs = 0;
    const rateLimiter = lenientRateLimiter();
    const admit: typeof rateLimiter.admit = (...asked) => {
      nowMs += 700;
      return rateLimiter.admit(...asked);
    };
    const clock = { ...systemClock, monotonicMs: () => nowMs };
    const waiting = { rateLimiter: { ...rateLimiter, admit }, clock };
    const { http } = await serviceWith((answer) => json(answer, {}), waiting);
    await http.send(get("/x"));
    expect(http.stats().waitedMs).toBe(700);
  });

  test("of a path that could lead elsewhere is refused before anything is sent", async () => {
    const { service, http } = await serviceWith((answer) => json(answer, {}));
    const paths = "x //x /a//b /../x /a/.. /a/%2e%2E/b /a?b=1 /a#b /a\\b /ž".split(" ");
    for (const path of [...paths, "/a b", "/a\r\nx: y"])
      await expect(http.send(get(path)), path).rejects.toMatchObject({ kind: "usage" });
    expect(service.asked).toHaveLength(0);
  });

  // Fault: secrets | a header with a line break | a request of a caller | refused, without another attempt
  test("cannot bring a header that would break the line", async () => {
    const { service, http } = await serviceWith((answer) => json(answer, {}));
    const request = get("/x", { idempotencyKey: "1\r\nx-b: 2" });
    expect(await rejectionOf(http.send(request))).toMatchObject({ kind: "usage" });
    expect(service.asked).toHaveLength(0);
  });
});
