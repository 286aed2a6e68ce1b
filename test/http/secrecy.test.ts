import type { ServerResponse } from "node:http";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { get, stubLog, testToken } from "../support/http/http-client.ts";
import { rejectionOf } from "../support/errors.ts";
import { json, rawServiceWith, serviceWith, startService, untilTheEnd } from "../support/http/http.ts";

const part = testToken.split("|")[1] ?? "";
const forms = [
  testToken,
  part,
  encodeURIComponent(testToken),
  JSON.stringify(testToken).slice(1, -1).replaceAll("/", "\\/"),
  Buffer.from(testToken).toString("base64"),
];
const inBasicAuth = Buffer.from(`user:${testToken}`).toString("base64");

/** Every way an error can be shown. */
function shown(error: Error): string {
  return [
    inspect(error, { depth: Infinity, showHidden: true }),
    JSON.stringify(error),
    JSON.stringify(error, Object.getOwnPropertyNames(error)),
    String(error.stack),
    inspect(error.cause, { depth: Infinity, showHidden: true }),
  ].join("\n");
}

function expectNoSecret(text: string): void {
  for (const form of [...forms, inBasicAuth.slice(8, -8)]) expect(text).not.toContain(form);
}

describe("I9: the token and secrets are in no error and no log line", () => {
  // Fault: secrets | errors echo the token: plain, URL-encoded, in JSON, in base64 | a server in the service's place | no error and no log line has it (I9)
  test.each([401, 403, 404, 409, 422, 429, 500])("though a %i echoes them everywhere", async (status) => {
    const log = stubLog();
    const echo = [...forms, inBasicAuth].join(" ");
    const errors = { [testToken]: [`bad ${testToken}`, echo] };
    const { http } = await serviceWith(
      (answer) => json(answer, { message: `no: ${echo}`, errors }, status, { "x-request-id": `id ${part}` }),
      { attempts: 2, log },
    );
    const error = await rejectionOf(http.send(get("/x")));
    expectNoSecret(shown(error));
    expectNoSecret(inspect(log.lines, { depth: Infinity }));
    expect(error.message).toContain("[redacted]");
  });

  // Fault: secrets | an echoed token where a long message is cut | a server in the service's place | no half of it is left (I9)
  test("also where the cut of a long message would have left half of one, and other secrets of the config neither", async () => {
    const message = `whsec_0123456789abc ${"x".repeat(270)}${testToken}`;
    const secrets = ["whsec_0123456789abc"];
    const { http } = await serviceWith((answer) => json(answer, { message }, 403), { secrets });
    const text = shown(await rejectionOf(http.send(get("/x"))));
    for (const some of [testToken.slice(0, 6), "0123456789"]) expect(text).not.toContain(some);
  });

  test("nor in what the network, a content type or an encoding say", async () => {
    const value = part.replaceAll(" ", "_");
    for (const header of ["content-type", "content-encoding"]) {
      const head = { "content-type": "application/json", [header]: value };
      const options = { attempts: 1, secrets: [value] };
      const { http } = await serviceWith((answer) => void answer.writeHead(200, head).end("x"), options);
      expect(shown(await rejectionOf(http.send(get("/x"))))).not.toContain("s3cret");
    }
  });

  // Fault: secrets | a request's bytes come back as its answer, or the connection breaks | a raw server in the service's place | the error has no token (I9)
  test("nor after a broken connection or a deadline", async () => {
    const { http } = await rawServiceWith(
      (socket, index) => {
        if (index === 0) socket.once("data", (sent) => socket.end(sent));
        if (index === 1) socket.once("data", () => socket.resetAndDestroy());
      },
      { attempts: 1, timeoutMs: 80 },
    );
    for (let i = 0; i < 3; i++) expectNoSecret(shown(await rejectionOf(http.send(get("/x")))));
  });

  // Fault: secrets | a token with a line break, a control character or a letter that no header can carry | the transport's token | nothing is sent, and the error has no part of it (I9)
  test.each(["\nx-evil: 1", "\r\n\r\nGET /", "\u0000gh", "\u0161gh"])(
    "nor where a token cannot be sent: %j",
    async (odd) => {
      const options = { token: `abcdef${odd}`, attempts: 2 };
      const { service, http } = await serviceWith((answer) => json(answer, {}), options);
      const text = shown(await rejectionOf(http.send(get("/x"))));
      expect(text).not.toContain("abcdef");
      expect(service.asked).toEqual([]);
    },
  );

  test("nor in an error of the transport itself, for a query that carries one", async () => {
    const { http } = await serviceWith((answer) => json(answer, {}, 404));
    expectNoSecret(shown(await rejectionOf(http.send(get("/x", { query: { q: testToken } })))));
  });
});

function redirect(answer: ServerResponse, location: string | null, status = 302): void {
  answer.writeHead(status, location === null ? {} : { location }).end();
}

describe("I9: redirects", () => {
  // Fault: secrets | a redirect to another origin | a server in the service's place | refused, no connection is made there, and its query is not repeated (I9)
  test("to another origin are refused, naming it without its query, and the token stays", async () => {
    const elsewhere = untilTheEnd(await startService((answer) => json(answer, {})));
    const { http } = await serviceWith((answer) => redirect(answer, `${elsewhere.origin}/steal?t=1`));
    const error = await rejectionOf(http.send(get("/x")));
    const message = `GET /x: redirected to ${elsewhere.origin}, where the token must not go (302)`;
    expect(error).toMatchObject({ kind: "protocol", retryable: false, message });
    expect(elsewhere.connections()).toBe(0);
  });

  // Fault: secrets | redirects to odd targets: no scheme, credentials, javascript:, backslashes | a server in the service's place | refused after one request (I9)
  test.each([
    "//evil.example/x",
    "https://127.0.0.1/",
    "http://user:pass@127.0.0.1/",
    "javascript:alert(1)",
    "data:application/json,{}",
    "\\\\evil.example\\x",
    "http://[broken",
  ])("to %j are refused", async (location) => {
    const { service, http } = await serviceWith((answer) => redirect(answer, location));
    expect(await rejectionOf(http.send(get("/x")))).toMatchObject({ kind: "protocol" });
    expect(service.asked).toHaveLength(1);
  });

  test("on the service's own origin are followed, each with a permit of its own", async () => {
    let sent = 0;
    const { service, http, rateLimiter } = await serviceWith((answer, { url }) => {
      if (url.startsWith("/api/v1/a")) redirect(answer, "/api/v1/b?page=2", 301);
      else if (url.startsWith("/api/v1/b")) redirect(answer, "c", 307);
      else json(answer, { url });
    });
    const answer = await http.send(get("/a", { query: { page: 1 }, onSent: () => void sent++ }));
    expect(answer.body.toString()).toBe('{"url":"/api/v1/c"}');
    const paths = service.asked.map((asked) => asked.url.replace("/api/v1", ""));
    expect(paths).toEqual(["/a?page=1", "/b?page=2", "/c"]);
    expect([rateLimiter.lanes.length, rateLimiter.open(), sent]).toEqual([3, 0, 3]);
  });

  // Fault: service | redirects in a loop | a server in the service's place | ended after three
  test("in a loop end after three", async () => {
    const { service, http } = await serviceWith((answer) => redirect(answer, "/api/v1/x"));
    expect((await rejectionOf(http.send(get("/x")))).message).toContain("more than 3 times");
    expect(service.asked).toHaveLength(4);
  });

  // Fault: service | a redirect of a write | a server in the service's place | not followed
  test("of a write are not followed", async () => {
    const { service, http } = await serviceWith((answer) => redirect(answer, "/api/v1/y", 307));
    await rejectionOf(http.send({ method: "POST", path: "/x", json: {}, expect: "json" }));
    expect(service.asked).toHaveLength(1);
  });

  test("without a target, and with other 3xx statuses, are a protocol error", async () => {
    const { http } = await serviceWith((answer, { url }) =>
      redirect(answer, null, url.endsWith("304") ? 304 : 302),
    );
    expect((await rejectionOf(http.send(get("/x")))).message).toContain("redirected nowhere");
    expect(await rejectionOf(http.send(get("/304")))).toMatchObject({ kind: "protocol" });
  });
});
