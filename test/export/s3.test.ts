import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import type { ExportRequest } from "../../src/export/plan/export-request.ts";
import { connectStore, type ObjectStore } from "../../src/export/s3/object-store.ts";
import { readAccess, readTarget } from "../../src/export/s3/target.ts";
import { uploadExport } from "../../src/export/s3/upload.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { exportOf, orderRecord } from "../support/export/export.ts";
import { openHasty, tempFolder } from "../support/mirror/mirror.ts";
import { startS3 } from "../support/export/s3-server.ts";
import { errorOf, put, putAs, rejectionOf } from "../support/mirror/store.ts";

const keys = { AWS_ACCESS_KEY_ID: "S3RVER", AWS_SECRET_ACCESS_KEY: "S3RVER" };

/** Starts a real S3 server with one bucket, which checks signatures; returns its URL. */
async function aServer(): Promise<string> {
  const server = await startS3(tempFolder(), "lake");
  onTestFinished(server.close);
  return server.url;
}

function storeAt(endpoint: string, more: Readonly<Record<string, string>> = {}): ObjectStore {
  return connectStore(readAccess({ ...keys, AWS_ENDPOINT_URL: endpoint, ...more }, readTarget("s3://lake")));
}

async function upload(mirror: Mirror, store: ObjectStore, request: Partial<ExportRequest> = {}) {
  const out = path.join(tempFolder(), "out");
  const exported = await exportOf(mirror, { ...request, out });
  const asked = { format: "csv", company: "acme", tables: [], ...request, out } as ExportRequest;
  return uploadExport({ store, prefix: "daily", clock: systemClock }, asked, exported);
}

async function aMirror(): Promise<Mirror> {
  const mirror = await openHasty();
  put(mirror, "people", { id: 1, name: "Ann", email: null, score: 0.5 });
  putAs(mirror, "orders", 1, orderRecord(1));
  return mirror;
}

describe("an upload", () => {
  test("puts every file under its prefix, the manifest last, and removes what no longer belongs", async () => {
    const mirror = await aMirror();
    const store = storeAt(await aServer());
    const first = await upload(mirror, store, { format: "jsonl" });
    expect(first.written).toHaveLength(10);
    expect(first.written.at(-1)).toBe("daily/acme/manifest.json");
    expect(await store.read("daily/acme/people.jsonl")).toContain('"Ann"');
    const second = await upload(mirror, store, { format: "jsonl", partition: "year", tables: ["people"] });
    expect(second).toEqual({
      written: ["daily/company=acme/people/part-0.jsonl", "daily/acme/manifest.json"],
      unchanged: [],
      removed: ["daily/acme/people.jsonl"],
    });
    expect(await store.read("daily/acme/people.jsonl")).toBeNull();
    const manifest = JSON.parse((await store.read("daily/acme/manifest.json")) ?? "") as {
      files: { file: string }[];
    };
    expect(manifest.files).toHaveLength(9);
    for (const { file } of manifest.files)
      expect(await store.read(path.posix.join("daily/acme", file))).not.toBeNull();
  });

  test("sends only files that changed since the last one", async () => {
    const mirror = await aMirror();
    const store = storeAt(await aServer());
    await upload(mirror, store, { tables: ["people", "orders"] });
    put(mirror, "people", { id: 2, name: "Bob", email: null, score: 1 });
    const { written, unchanged } = await upload(mirror, store, { tables: ["people", "orders"] });
    expect(written).toEqual(["daily/acme/people.csv", "daily/acme/manifest.json"]);
    expect(unchanged).toEqual(["daily/acme/orders.csv"]);
  });

  test("of a large file is made in parts and arrives complete", async () => {
    const mirror = await openHasty();
    const remark = "x".repeat(4_500_000);
    for (const id of [1, 2]) putAs(mirror, "orders", id, orderRecord(id, { remark: `${id}${remark}` }));
    const store = storeAt(await aServer());
    let begun = 0;
    const counting = { ...store, begin: (key: string, type: string) => (begun++, store.begin(key, type)) };
    await upload(mirror, counting, { tables: ["orders"] });
    expect(begun).toBe(1);
    const { text } = await exportOf(mirror, { tables: ["orders"] });
    expect((await store.read("daily/acme/orders.csv")) === text("orders.csv")).toBe(true);
  });

  // Fault: network | an upload that fails | the object store's client | the earlier manifest stays, and no part of a file
  test("that fails leaves the earlier manifest and no part of a file", async () => {
    const mirror = await aMirror();
    const real = storeAt(await aServer());
    await upload(mirror, real, { tables: ["people"] });
    const before = await real.read("daily/acme/manifest.json");
    put(mirror, "people", { id: 2, name: "Bob", email: null, score: 1 });
    const failing: ObjectStore = {
      ...real,
      put: (key, body, type) =>
        key.endsWith(".csv") ? Promise.reject(new Error("cut off")) : real.put(key, body, type),
    };
    await expect(upload(mirror, failing, { tables: ["people"] })).rejects.toThrow("cut off");
    expect(await real.read("daily/acme/manifest.json")).toBe(before);
    expect(await real.read("daily/acme/people.csv")).not.toContain("Bob");
  });
});

// Fault: network | an upload is interrupted, and the mirror returns to the state of the manifest | the object store's client | what the manifest names is sent again
test("an upload after an interrupted one sends again what that one may have replaced", async () => {
  const mirror = await aMirror();
  const real = storeAt(await aServer());
  await upload(mirror, real, { tables: ["people"] });
  const ann = await real.read("daily/acme/people.csv");
  const late: ObjectStore = {
    ...real,
    put: (key, body, type) =>
      key.endsWith("manifest.json") ? Promise.reject(new Error("cut off")) : real.put(key, body, type),
  };
  put(mirror, "people", { id: 1, name: "Bob", email: null, score: 0.5 });
  await expect(upload(mirror, late, { tables: ["people"] })).rejects.toThrow("cut off");
  expect(await real.read("daily/acme/people.csv")).toContain("Bob");
  put(mirror, "people", { id: 1, name: "Ann", email: null, score: 0.5 });
  await upload(mirror, real, { tables: ["people"] });
  expect(await real.read("daily/acme/people.csv")).toBe(ann);
  expect(await real.list("daily/acme/")).toEqual(["daily/acme/manifest.json", "daily/acme/people.csv"]);
});

describe("refused, with a hint", () => {
  // Fault: secrets | a wrong key of the object store | a local S3 server | refused, and the error does not show the key
  test("a wrong key", async () => {
    const store = storeAt(await aServer(), { AWS_SECRET_ACCESS_KEY: "wrong-secret-key" });
    const error = await rejectionOf(store.put("a", Buffer.from("a"), "text/csv"));
    expect([error.kind, error.message]).toEqual([
      "forbidden",
      "the object store refused a: SignatureDoesNotMatch, status 403",
    ]);
    expect(JSON.stringify(error)).not.toContain("wrong-secret-key");
  });

  // Fault: network | a missing bucket, and a server that does not answer | a local S3 server, and a closed port | an error that says which, and whether it may pass
  test("a missing bucket, and a server that does not answer", async () => {
    const endpoint = await aServer();
    const absent = connectStore(
      readAccess({ ...keys, AWS_ENDPOINT_URL: endpoint }, readTarget("s3://other")),
    );
    expect((await rejectionOf(absent.put("a", Buffer.from("a"), "text/csv"))).message).toContain(
      "NoSuchBucket",
    );
    const nobody = await rejectionOf(storeAt("http://127.0.0.1:9").put("a", Buffer.from("a"), "text/csv"));
    expect([nobody.kind, nobody.retryable]).toEqual(["network", true]);
  });

  test.each(["lake", "s3://", "s3://UPPER", "s3://lake/../other", "https://lake"])(
    "%s is no place",
    (text) => {
      expect(errorOf(() => readTarget(text)).kind).toBe("usage");
    },
  );

  test("missing keys, and keys with a session token", () => {
    const target = readTarget("s3://lake");
    expect(errorOf(() => readAccess({}, target)).message).toContain("AWS_ACCESS_KEY_ID");
    expect(errorOf(() => readAccess({ ...keys, AWS_SESSION_TOKEN: "t" }, target)).message).toContain(
      "session",
    );
  });
});

test("the address is Amazon's for the region, or the endpoint with the bucket in its path", () => {
  const target = readTarget("s3://lake/some/prefix/");
  expect(target).toEqual({ bucket: "lake", prefix: "some/prefix" });
  expect(readAccess({ ...keys, AWS_REGION: "eu-central-1" }, target).endpoint).toBe(
    "https://lake.s3.eu-central-1.amazonaws.com",
  );
  expect(readAccess(keys, readTarget("s3://my.lake")).endpoint).toBe(
    "https://s3.us-east-1.amazonaws.com/my.lake",
  );
  for (const url of ["http://s3.example.com", "http://10.0.0.1:9000", "ftp://127.0.0.1"])
    expect(() => readAccess({ ...keys, AWS_ENDPOINT_URL: url }, target)).toThrow("AWS_ENDPOINT_URL must");
  expect(readAccess({ ...keys, AWS_ENDPOINT_URL: "http://127.0.0.1:9000/" }, target).endpoint).toBe(
    "http://127.0.0.1:9000/lake",
  );
});
