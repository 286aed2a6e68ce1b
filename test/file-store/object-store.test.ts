import { describe, expect, test } from "vitest";
import { minuteMs, systemClock } from "../../src/base/clock.ts";
import type { FileStore } from "../../src/file-store/file-store.ts";
import { openStore } from "../../src/file-store/open-store.ts";
import { readAccess, readTarget } from "../../src/file-store/s3-store.ts";
import { errorOf, rejectionOf } from "../support/errors.ts";
import { aFileStore, aRight } from "../support/file-store.ts";

const keys = { AWS_ACCESS_KEY_ID: "S3RVER", AWS_SECRET_ACCESS_KEY: "S3RVER" };
/** Retries at once. */
const clock = { ...systemClock, sleep: () => Promise.resolve() };

function storeWith(env: Readonly<Record<string, string>>, address = "s3://fleet"): FileStore {
  return openStore(address, { clock, env, onSecrets: () => undefined });
}

const putting = (store: FileStore) => rejectionOf(store.put("a", Buffer.from("a"), aRight()));

test("keys of an object store are kept as secrets", async () => {
  const { env } = await aFileStore("s3");
  const kept: string[] = [];
  openStore("s3://fleet", { clock, env, onSecrets: (secrets) => void kept.push(...secrets) });
  expect(kept).toEqual(["S3RVER"]);
});

describe("refused, with a hint", () => {
  // Fault: secrets | a wrong key of the object store | a local S3 server | refused, and the error does not show the key
  test("a wrong key", async () => {
    const { env } = await aFileStore("s3");
    const error = await putting(storeWith({ ...env, AWS_SECRET_ACCESS_KEY: "wrong-secret-key" }));
    const message = "the object store refused a: SignatureDoesNotMatch, status 403";
    expect(error).toMatchObject({ kind: "forbidden", message });
    expect(JSON.stringify(error)).not.toContain("wrong-secret-key");
  });

  // Fault: network | a missing bucket, and a server that does not answer | a local S3 server, and a closed port | an error that says which, and whether it may pass
  test("a missing bucket, and a server that does not answer", async () => {
    const { env } = await aFileStore("s3");
    expect((await putting(storeWith(env, "s3://other"))).message).toContain("NoSuchBucket");
    const nobody = await putting(storeWith({ ...keys, AWS_ENDPOINT_URL: "http://127.0.0.1:9" }));
    expect([nobody.kind, nobody.retryable]).toEqual(["network", true]);
  });

  test("what is no address of a place", () => {
    for (const text of ["lake", "s3://", "s3://UPPER", "s3://lake/../other", "https://lake"])
      expect(errorOf(() => readTarget(text)).kind).toBe("usage");
  });

  test("keys with a session token", () => {
    expect(() => readAccess({ ...keys, AWS_SESSION_TOKEN: "t" }, "lake")).toThrow("session");
  });
});

test.each([
  ["fails at once is made five times", 0, 5],
  ["hangs for its 5 minutes is made once: reports of all companies may wait for it", 5 * minuteMs, 1],
])("a request that %s", async (_, hangsMs, attempts) => {
  let [nowMs, asked] = [0, 0];
  const env = { ...keys, AWS_ENDPOINT_URL: "http://127.0.0.1:9" };
  const hanging = { ...clock, monotonicMs: () => nowMs };
  const store = openStore("s3://fleet", { clock: hanging, env, onSecrets: () => undefined });
  const assertHeld = () => {
    asked += 1;
    nowMs += hangsMs;
  };
  await rejectionOf(store.put("a", Buffer.from("a"), { ...aRight(), assertHeld }));
  expect(asked).toBe(attempts);
});

const endpointOf = (env: object, bucket = "lake") => readAccess({ ...keys, ...env }, bucket).endpoint;

test("the address is Amazon's for the region, or the endpoint with the bucket in its path", () => {
  expect(readTarget("s3://lake/some/prefix/")).toEqual({ bucket: "lake", prefix: "some/prefix" });
  expect(endpointOf({ AWS_REGION: "eu-central-1" })).toBe("https://lake.s3.eu-central-1.amazonaws.com");
  expect(endpointOf({}, "my.lake")).toBe("https://s3.us-east-1.amazonaws.com/my.lake");
  for (const url of ["http://s3.example.com", "http://10.0.0.1:9000", "ftp://127.0.0.1"])
    expect(() => endpointOf({ AWS_ENDPOINT_URL: url })).toThrow("AWS_ENDPOINT_URL must");
  const local = { AWS_ENDPOINT_URL: "http://127.0.0.1:9000/" };
  expect(endpointOf(local)).toBe("http://127.0.0.1:9000/lake");
});
