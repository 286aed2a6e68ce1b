import { describe, expect, test } from "vitest";
import { isLoopbackUrl, readBaseUrl, readListen, readPublicUrl } from "../../src/config/address.ts";

describe("base_url", () => {
  test.each([
    ["https://app.fintoro.sk/api/public/v1", "https://app.fintoro.sk/api/public/v1"],
    ["https://app.fintoro.sk/api/public/v1//", "https://app.fintoro.sk/api/public/v1"],
    ["http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"],
    ["http://127.8.9.1", "http://127.8.9.1"],
    ["http://localhost:1/", "http://localhost:1"],
    ["http://[::1]:8080/v1", "http://[::1]:8080/v1"],
    ["HTTPS://EXAMPLE.COM/V1", "https://example.com/V1"],
  ])("%s is taken", (text, value) => {
    expect(readBaseUrl(text)).toEqual({ value });
  });

  test.each([
    ["http://example.com/v1", "use https://"],
    ["http://127.0.0.1.example.com/", "use https://"],
    ["http://localhost.example.com/", "use https://"],
    ["http://10.0.0.1/", "use https://"],
    ["http://0.0.0.0/", "use https://"],
    ["ftp://example.com/", "use https://"],
    ["file:///etc/passwd", "use https://"],
    ["https://user:pass@example.com/", "carry no user name or password"],
    ["https://example.com/?a=1", "have nothing after a ?"],
    ["https://example.com/v1?", "have nothing after a ?"],
    ["https://example.com//v1", "have no empty segment"],
    ["https://example.com/#x", "have nothing after a #"],
    ["example.com/v1", "be a URL"],
    ["", "be a URL"],
  ])("%s is refused: it must %s", (text, must) => {
    expect(readBaseUrl(text)).toEqual({ must: expect.stringContaining(must) });
  });

  test("a refusal never repeats what it refuses", () => {
    expect(JSON.stringify(readBaseUrl("https://user:hunter2@example.com/"))).not.toContain("hunter2");
  });
});

test("a public URL may carry a query, as receivers behind a gateway do", () => {
  expect(readPublicUrl("https://hooks.example.com/w?key=1")).toEqual({
    value: "https://hooks.example.com/w?key=1",
  });
});

test.each([
  ["https://127.0.0.1/", true],
  ["http://[::1]/", true],
  ["https://example.com/", false],
  ["no url", false],
])("%s is this machine: %s", (url, own) => {
  expect(isLoopbackUrl(url)).toBe(own);
});

test.each([
  ["127.0.0.1:8787", { value: { host: "127.0.0.1", port: 8787 } }],
  ["0.0.0.0:80", { value: { host: "0.0.0.0", port: 80 } }],
  ["[::]:0", { value: { host: "::", port: 0 } }],
  ["localhost:65535", { value: { host: "localhost", port: 65_535 } }],
])("%s can be listened on", (text, reading) => {
  expect(readListen(text)).toEqual(reading);
});

test.each([
  "",
  "8787",
  ":8787",
  "localhost",
  "localhost:",
  "localhost:65536",
  "a b:1",
  "http://x:1",
  "::1:80",
])("%j cannot be listened on", (text) => {
  expect(readListen(text)).toEqual({ must: expect.stringContaining("be an address and a port") });
});
