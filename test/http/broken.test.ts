import { expect, test } from "vitest";
import { get, httpFor, lenientRateLimiter } from "../support/http/http-client.ts";
import { rejectionOf } from "../support/errors.ts";
import { json, rawServiceWith, startService, untilTheEnd } from "../support/http/http.ts";

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
  ["a body shorter than its Content-Length", "network", `${jsonAnswer}content-length: 90\r\n\r\n{"data":[]`],
  [
    "a chunked body that is cut off",
    "network",
    `${jsonAnswer}transfer-encoding: chunked\r\n\r\n5\r\n{"a":\r\n`,
  ],
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
