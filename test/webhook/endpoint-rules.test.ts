import { describe, expect, test } from "vitest";
import { endpointFault } from "../../src/webhook/subscriptions/endpoint-rules.ts";

const addresses: Readonly<Record<string, readonly string[]>> = {
  "hooks.example.com": ["8.8.8.8", "2a00:1450::1"],
  "inside.example.com": ["8.8.8.8", "10.1.2.3"],
  "nothing.example.com": [],
};

function lookup(host: string): Promise<readonly string[]> {
  const found = addresses[host];
  return found ? Promise.resolve(found) : Promise.reject(new Error("ENOTFOUND"));
}

const judged = (url: string, loopback = false) => endpointFault(url, { lookup, loopback });

describe("an endpoint", () => {
  const fine = "https://hooks.example.com/webhooks/acme https://8.8.8.8:8443/in https://[2a00:1450::1]/";
  test.each(fine.split(" "))("%s is fine", async (url) => {
    expect(await judged(url)).toBeNull();
  });

  test.each([
    ["hooks.example.com/webhooks/acme", "is no URL"],
    ["http://hooks.example.com/", "is not https://"],
    ["ftp://hooks.example.com/", "is not https://"],
    ["https://me@hooks.example.com/", "a user name or password"],
    ["https://me:word@hooks.example.com/", "a user name or password"],
    ["https://localhost/", "localhost is not a public address"],
    ["https://LOCALHOST./", "localhost is not a public address"],
    ["https://a.localhost/", "is not a public address"],
    ["https://printer.local/", "printer.local is not a public address"],
    ["https://printer.local./", "printer.local is not a public address"],
    ["https://127.1/", "127.0.0.1 is not a public address"],
    ["https://0x7f000001/", "127.0.0.1 is not a public address"],
    ["https://192.168.1.5/", "is not a public address"],
    ["https://[fd00::1]/", "fd00::1 is not a public address"],
    ["https://[::ffff:10.0.0.1]/", "is not a public address"],
    ["https://inside.example.com/", "inside.example.com (10.1.2.3) is not a public address"],
  ])("%s is refused before the service is asked", async (url, what) => {
    const fault = await judged(url);
    expect(fault).toMatchObject({ what: expect.stringContaining(what), certain: true });
  });

  test("with a name or password never shows it", async () => {
    const fault = await judged("https://me:hunter2@hooks.example.com/");
    expect(JSON.stringify(fault)).not.toContain("hunter2");
  });

  test.each(["nowhere", "nothing"])(
    "%s.example.com means nothing here: it may to the service",
    async (name) => {
      const what = expect.stringContaining("cannot be resolved here") as string;
      expect(await judged(`https://${name}.example.com/`)).toMatchObject({ what, certain: false });
    },
  );

  test("on this machine is fine for a service on this machine, and only for that", async () => {
    for (const url of ["http://127.0.0.1:8787/webhooks/acme", "https://localhost/", "http://[::1]:1/"]) {
      expect(await judged(url, true)).toBeNull();
      expect(await judged(url, false)).toMatchObject({ certain: true });
    }
    expect(await judged("http://192.168.1.5/", true)).toMatchObject({ certain: true });
    expect(await judged("http://me:word@127.0.0.1/", true)).toMatchObject({ certain: true });
  });
});

test.each([
  ["8.8.8.8", true],
  ["64:ff9b::8.8.8.8", true],
  ["::ffff:8.8.8.8", true],
  ["::8.8.8.8", false],
  ["fe80::1", false],
  ["fe80::1%eth0", false],
  ["::ffff:10.0.0.1", false],
  ["::ffff:a00:1", false],
  ["64:ff9b::10.0.0.1", false],
  ["64:ff9b::", false],
  ["64:ff9b:1::8.8.8.8", false],
  ["not an address", false],
])("%s is public: %s", async (address, open) => {
  const rules = { lookup: () => Promise.resolve([address]), loopback: false };
  expect((await endpointFault("https://hooks.example.com/", rules)) === null).toBe(open);
});
