import { describe, expect, test } from "vitest";
import { NetworkError, ProtocolError } from "../../src/connector/service-errors.ts";
import { get, httpFor, lenientRateLimiter } from "../support/http/http-client.ts";
import { failureOf, json, rawServiceWith, startService, untilTheEnd } from "../support/http/http.ts";

describe("the network", () => {
  // Fault: network | the connection is refused | a closed port in the service's place | tried three times with a plain message; each permit counts as lost
  test("refused: a plain message, tried again, the permit counted as lost", async () => {
    const service = await startService((answer) => json(answer, {}));
    await service.close();
    const rateLimiter = lenientRateLimiter();
    const http = untilTheEnd(httpFor(service.baseUrl, { rateLimiter, attempts: 3 }));
    const error = await failureOf(http.send(get("/x")));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error.message).toBe("GET /x: the connection was refused");
    expect([rateLimiter.lost(), rateLimiter.mayArrive(), rateLimiter.open()]).toEqual([3, 0, 0]);
    expect(http.stats()).toMatchObject({ requests: 3, retried: 2, unanswered: 3 });
  });

  // Fault: network | the connection is reset twice | a raw server in the service's place | the third attempt is answered
  test("a reset is tried again", async () => {
    const { http } = await rawServiceWith((socket, index) => {
      socket.once("data", () => {
        if (index < 2) socket.resetAndDestroy();
        else socket.end("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}");
      });
    });
    expect(await http.send(get("/x"))).toMatchObject({ attempts: 3 });
  });

  // Fault: network | the body is shorter than its Content-Length | a raw server in the service's place | a retryable error, no half answer
  test("a body shorter than its Content-Length is an error", async () => {
    const { http } = await rawServiceWith(
      (socket) => {
        socket.once("data", () =>
          socket.end(
            'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 90\r\n\r\n{"data":[]',
          ),
        );
      },
      { attempts: 2 },
    );
    const error = await failureOf(http.send(get("/x")));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({ retryable: true });
  });

  // Fault: network | a chunked body is cut off | a raw server in the service's place | an error, no half answer
  test("a chunked body that is cut off is an error", async () => {
    const { http } = await rawServiceWith(
      (socket) => {
        socket.once("data", () =>
          socket.end(
            'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"a":\r\n',
          ),
        );
      },
      { attempts: 1 },
    );
    expect(await failureOf(http.send(get("/x")))).toBeInstanceOf(NetworkError);
  });

  // Fault: network | bytes that are not HTTP | a raw server in the service's place | a protocol error
  test("bytes that are not HTTP are a protocol error", async () => {
    const { http } = await rawServiceWith(
      (socket) => socket.once("data", () => socket.end("SSH-2.0-OpenSSH_9.6\r\n")),
      {
        attempts: 1,
      },
    );
    const error = await failureOf(http.send(get("/x")));
    expect(error).toBeInstanceOf(ProtocolError);
  });

  // Fault: service | an answer with a head of 200 kB | a raw server in the service's place | a protocol error
  test("an answer with a head too large is a protocol error", async () => {
    const { http } = await rawServiceWith(
      (socket) => {
        socket.once("data", () => socket.end(`HTTP/1.1 200 OK\r\nx-a: ${"a".repeat(200_000)}\r\n\r\n`));
      },
      { attempts: 1 },
    );
    expect(await failureOf(http.send(get("/x")))).toBeInstanceOf(ProtocolError);
  });

  test("an IPv6 loopback address is a base_url like any other", async () => {
    const service = untilTheEnd(await startService((answer) => json(answer, { six: 6 }), "::1"));
    const http = untilTheEnd(httpFor(service.baseUrl));
    expect((await http.send(get("/x"))).body.toString()).toBe('{"six":6}');
  });
});
