import { describe, expect, test } from "vitest";
import type { ServiceRequest } from "../../src/connector/transport.ts";
import { rejectionOf } from "../support/errors.ts";
import { get, lenientRateLimiter } from "../support/http/http-client.ts";
import { json, serviceWith } from "../support/http/http.ts";

describe("a request", () => {
  test("goes to base_url and its path, with token, language and what it accepts", async () => {
    const { service, http } = await serviceWith((answer) => json(answer, { ok: true }));
    const answer = await http.send(
      get("/invoices", { query: { page: 2, "a b": "č&=?", none: null, gone: undefined } }),
    );
    expect(answer).toMatchObject({ status: 200, requestId: "req-1", attempts: 1 });
    expect(answer.body.toString()).toBe('{"ok":true}');
    expect(answer.headers["content-type"]).toBe("application/json");
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
    const request: ServiceRequest = {
      method: "POST",
      path: "/clients",
      json: { name: "Živý" },
      headers: { "Idempotency-Key": "k-1" },
      expect: "json",
    };
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
    await http.send({ method: "POST", path: "/files", form, expect: "json", repeatable: true });
    const [first, second] = service.asked;
    expect(first?.headers["content-type"]).toMatch(/^multipart\/form-data; boundary=/);
    expect(first?.body.toString()).toContain('filename="one.txt"');
    expect(second?.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true);
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
    const rateLimiter = lenientRateLimiter();
    const { http } = await serviceWith(
      (answer, _, index) =>
        index === 0
          ? json(answer, {}, 429, { "retry-after": "0", "x-ratelimit-remaining": "0" })
          : json(answer, {}),
      { rateLimiter },
    );
    await http.send(get("/x", { lane: "webhook" }));
    expect(rateLimiter.lanes).toEqual(["webhook", "webhook"]);
    expect(rateLimiter.reports).toEqual([
      { status: 429, headers: { limit: 120, remaining: 0, retryAfterS: 0 } },
      { status: 200, headers: { limit: 120, remaining: 100, retryAfterS: null } },
    ]);
  });

  test("of a path that could lead elsewhere is refused before anything is sent", async () => {
    const { service, http } = await serviceWith((answer) => json(answer, {}));
    const paths = "x //x /a//b /../x /a/.. /a/%2e%2E/b /a?b=1 /a#b /a\\b /ž".split(" ");
    for (const path of [...paths, "/a b", "/a\r\nx: y"])
      await expect(http.send(get(path)), path).rejects.toMatchObject({ kind: "usage" });
    expect(service.asked).toHaveLength(0);
  });

  // Fault: secrets | a header with a line break | a request of a caller | refused, without another attempt
  test("cannot bring its own credentials, host or framing, nor a header that would break the line", async () => {
    const { service, http } = await serviceWith((answer) => json(answer, {}));
    const own = ["Authorization", "host", "Cookie", "Content-Length", "Transfer-Encoding"];
    for (const headers of [...own.map((name) => ({ [name]: "1" })), { "x-a": "1\r\nx-b: 2" }])
      expect(await rejectionOf(http.send(get("/x", { headers })))).toMatchObject({ kind: "usage" });
    expect(service.asked).toHaveLength(0);
  });
});
