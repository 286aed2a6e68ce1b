import { describe, expect, test } from "vitest";
import {
  isLoopbackUrl,
  isPublicAddress,
  readBaseUrl,
  readInternetUrl,
  readListen,
} from "../../src/config/address.ts";

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

describe("an address of the internet", () => {
  test.each(["93.184.215.14", "8.8.8.8", "172.32.0.1", "2606:4700::1111", "2a00:1450:4014:80e::200e"])(
    "is %s",
    (address) => expect(address).toSatisfy(isPublicAddress),
  );

  const notPublic = [
    "0.0.0.0 10.0.0.1 100.64.0.1 127.9.9.9 169.254.169.254 172.31.255.255 192.168.0.1 198.18.0.1 203.0.113.9 224.0.0.1",
    "255.255.255.255 :: ::1 ::ffff:10.0.0.1 ::ffff:8.8.8.8 64:ff9b::a00:1 fc00::1 fe80::1 ff02::1 2002:7f00:1::",
    "2001:db8::1",
  ].flatMap((line) => line.split(" "));
  test.each([...notPublic, "no address", ""])("is not %s", (address) =>
    expect(address).not.toSatisfy(isPublicAddress),
  );

  test.each([
    // As receivers behind a gateway have it.
    ["https://hooks.example.com/w?key=1", true],
    ["https://8.8.8.8/", true],
    ["https://[2606:4700::1111]/", true],
    ["https://localhost/", false],
    ["http://127.0.0.1/", false],
    ["https://0x7f.1/", false],
    ["https://[fd00::1]/", false],
    ["https://[::ffff:10.0.0.1]/", false],
    ["no url", false],
  ])("may stand in %s: %s", (url, isTaken) => {
    expect("value" in readInternetUrl(url)).toBe(isTaken);
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
  ["NAS.home:80", { value: { host: "nas.home", port: 80 } }],
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
