import { describe, expect, test } from "vitest";
import type { ServiceError } from "../../src/connector/service-errors.ts";
import { get, httpFor, lenientRateLimiter } from "../support/http/http-client.ts";
import { rejectionOf } from "../support/errors.ts";
import { json, serviceWith, rawServiceWith, startService, untilTheEnd } from "../support/http/http.ts";
import { networkErrorOf, createSafeText } from "../../src/http/http-errors.ts";

describe("any other answer becomes an error with its request id and a hint", () => {
  test.each([
    [401, "UnauthenticatedError", "Unauthenticated."],
    [403, "ForbiddenError", "This action is unauthorized."],
    [404, "NotFoundError", "No query results for model."],
    [409, "ProtocolError", "Conflict"],
    [410, "ProtocolError", "Gone"],
  ])("%i is a %s", async (status, name, message) => {
    const { service, http } = await serviceWith((answer) => json(answer, { message }, status));
    const error = await rejectionOf(http.send(get("/invoices/7")));
    const facts = { requestId: "req-1", serviceMessage: message, retryable: false };
    expect(error).toMatchObject({ name, status, ...facts });
    expect(error.message).toBe(`GET /invoices/7: ${status} ${message} (request req-1)`);
    expect(service.asked).toHaveLength(1);
  });

  test("422 names the fields", async () => {
    const errors = { perPage: ["must be at most 200", "must be a number"], page: "must be at least 1" };
    const { http } = await serviceWith((answer) =>
      json(answer, { message: "The given data was invalid.", errors }, 422),
    );
    expect(await rejectionOf(http.send(get("/x")))).toMatchObject({
      kind: "invalid",
      fields: { ...errors, page: ["must be at least 1"] },
    });
  });

  test.each([
    ["without a body", ""],
    ["with HTML", "<html>502</html>"],
    ["with broken JSON", '{"message":'],
    ["with JSON of another shape", "[1,2]"],
    ["with a message that is no text", '{"message":{"a":1},"errors":[1]}'],
  ])("an error %s is reported by its status alone", async (_, body) => {
    const { http } = await serviceWith((answer) => void answer.writeHead(404).end(body));
    const facts = { status: 404, serviceMessage: null, requestId: null };
    expect(await rejectionOf(http.send(get("/x")))).toMatchObject(facts);
  });

  // Fault: network | an error answer whose body never ends | a server in the service's place | reported by its status, and the connection is closed
  test("an error whose body never ends is reported by its status, and its connection closed", async () => {
    const { http } = await serviceWith((answer) => {
      answer.writeHead(403, { "content-type": "application/json" });
      const timer = setInterval(() => answer.write("x".repeat(20_000)), 1);
      answer.on("close", () => clearInterval(timer));
    });
    expect(await rejectionOf(http.send(get("/x")))).toMatchObject({ kind: "forbidden" });
  });

  // Fault: data | control characters in an error's message | a server in the service's place | escaped and shortened
  test("control characters in a message of the service are escaped, and it is shortened", async () => {
    const { http } = await serviceWith((answer) =>
      json(answer, { message: `\u001b[31mred\u202e ${"x".repeat(900)}` }, 403),
    );
    const error = (await rejectionOf(http.send(get("/x")))) as ServiceError;
    expect(error.serviceMessage).toMatch(/^\\x1b\[31mred\\u202e x+…$/);
    expect(error.serviceMessage).toHaveLength(300);
  });
});

const broken = { where: "GET /x", requestId: "req-9" };
const words = createSafeText("hunter2-hunter2");
const withCode = (code: string, message = "whatever") => Object.assign(new Error(message), { code });
const failureFrom = (error: unknown) => networkErrorOf(error, broken, words);

describe("what breaks a request has a plain message", () => {
  // Fault: network | the name does not resolve, the connection is refused, reset or too slow | the error's code | a plain message, retryable
  test.each([
    ["ENOTFOUND", "the host name does not resolve"],
    ["EAI_AGAIN", "the host name could not be resolved just now"],
    ["ECONNREFUSED", "the connection was refused"],
    ["ECONNRESET", "the connection was reset"],
    ["UND_ERR_SOCKET", "the connection was closed before the answer was complete"],
    ["UND_ERR_CONNECT_TIMEOUT", "the connection timed out"],
  ])("%s is retryable", (code, why) => {
    const facts = { requestId: "req-9", hint: expect.any(String) as string, cause: { code } };
    const error = { kind: "network", message: `GET /x: ${why}`, retryable: true };
    expect(failureFrom(withCode(code))).toMatchObject({ ...error, ...facts });
  });

  // Fault: process | this machine has no file descriptor left for a connection | the error's code | it is called so, with what helps; retryable
  test("EMFILE is this machine's, and retryable", () => {
    const hint = "Raise the limit of open files (`ulimit -n`).";
    const error = { kind: "network", message: "GET /x: too many files are open", retryable: true, hint };
    expect(failureFrom(withCode("EMFILE", "connect EMFILE 1.2.3.4:443 - Local"))).toMatchObject(error);
  });

  // Fault: network | the certificate is expired, self-signed or another name's | the error's code | ended at once: it cannot pass by itself
  test.each([
    "CERT_HAS_EXPIRED",
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "UNABLE_TO_GET_ISSUER_CERT",
  ])("%s is not retryable", (code) => {
    const error = failureFrom(withCode(code, "certificate has expired"));
    expect(error).toMatchObject({ kind: "network", retryable: false });
    expect(error.message).toContain("certificate");
  });

  test("whatever else breaks it becomes a MirrorError, too", () => {
    expect(failureFrom("a string with hunter2-hunter2")).toMatchObject({
      kind: "network",
      message: "GET /x: a string with [redacted]",
    });
  });

  test("I9: the library's error is not passed on, only its code and redacted words", () => {
    const secretive = Object.assign(withCode("EOTHER", "failed with hunter2-hunter2"), {
      request: { headers: { authorization: "Bearer hunter2-hunter2" } },
    });
    const { cause } = failureFrom(secretive);
    expect(cause).toMatchObject({ code: "EOTHER", message: "failed with [redacted]" });
    expect(cause).not.toHaveProperty("request");
  });
});

const jsonAnswer = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";

/** A service that answers with these bytes, and one attempt. */
const saying = (text: string) =>
  rawServiceWith((socket) => void socket.once("data", () => socket.end(text)), { attempts: 1 });

// Fault: network | the connection is refused | a closed port in the service's place | tried three times with a plain message; each permit counts as lost
test("a refused connection: a plain message, tried again, the permit counted as lost", async () => {
  const service = await startService((answer) => json(answer, {}));
  await service.close();
  const rateLimiter = lenientRateLimiter();
  const http = untilTheEnd(httpFor(service.baseUrl, { rateLimiter, attempts: 3 }));
  const error = await rejectionOf(http.send(get("/x")));
  expect(error).toMatchObject({ kind: "network", message: "GET /x: the connection was refused" });
  expect([rateLimiter.lost(), rateLimiter.mayArrive(), rateLimiter.open()]).toEqual([3, 0, 0]);
  expect(http.stats()).toMatchObject({ requests: 3, unanswered: 3 });
});

// Fault: network | the connection is reset twice | a raw server in the service's place | the third attempt is answered
test("a reset is tried again", async () => {
  const { http } = await rawServiceWith((socket, index) => {
    socket.once("data", () => {
      if (index < 2) socket.resetAndDestroy();
      else socket.end(`${jsonAnswer}content-length: 2\r\n\r\n{}`);
    });
  });
  await http.send(get("/x"));
  expect(http.stats()).toMatchObject({ requests: 3 });
});

// Fault: network | the body is shorter than its Content-Length | a raw server in the service's place | a retryable error, no half answer
// Fault: network | a chunked body is cut off | a raw server in the service's place | an error, no half answer
// Fault: network | bytes that are not HTTP | a raw server in the service's place | a protocol error
// Fault: service | an answer with a head of 200 kB | a raw server in the service's place | a protocol error
test.each([
  ["a body shorter than its length", "network", `${jsonAnswer}content-length: 90\r\n\r\n{"data":[]`],
  ["a chunked body cut off", "network", `${jsonAnswer}transfer-encoding: chunked\r\n\r\n5\r\n{"a":\r\n`],
  ["bytes that are not HTTP", "protocol", "SSH-2.0-OpenSSH_9.6\r\n"],
  ["a head too large", "protocol", `${jsonAnswer}x-a: ${"a".repeat(200_000)}\r\n\r\n`],
])("%s is a retryable error of kind %s, no half answer", async (_, kind, text) => {
  const { http } = await saying(text);
  expect(await rejectionOf(http.send(get("/x")))).toMatchObject({ kind, retryable: true });
});

test("an IPv6 loopback address is a base_url like any other", async () => {
  const service = untilTheEnd(await startService((answer) => json(answer, { six: 6 }), "::1"));
  const http = untilTheEnd(httpFor(service.baseUrl));
  expect((await http.send(get("/x"))).body.toString()).toBe('{"six":6}');
});
