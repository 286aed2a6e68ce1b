import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import path from "node:path";
import { S3mini, S3ServiceError } from "s3mini";
import type { Clock } from "../base/clock.ts";
import { assert, MirrorError, messageOf, throwIfAborted } from "../base/errors.ts";
import { hashOf, type ContentFacts } from "../base/files/hashed-file.ts";
import { isLoopbackUrl } from "../config/address.ts";
import { backoffMs, retries } from "../retry/retry-limits.ts";
import type { FileStore } from "./file-store.ts";

export interface StoreSurroundings {
  readonly clock: Clock;
  /** Of the process: keys of an object store, as S3 tools share them. */
  readonly env: NodeJS.ProcessEnv;
  /** Called with each secret that is read. */
  readonly onSecrets: (secrets: readonly string[]) => void;
}

/** For one request with a part of any size. */
const requestTimeoutMs = 300_000;
/** Larger files are sent in parts of this size, of which two are in memory. S3 wants 5 MB at least. */
const partBytes = 8_000_000;

const types = new Map([
  [".csv", "text/csv"],
  [".json", "application/json"],
  [".jsonl", "application/x-ndjson"],
  [".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
  [".parquet", "application/vnd.apache.parquet"],
]);

/**
 * Files below a prefix of an object store. Uses s3mini (300 kB without dependencies; the vendor's client has 15 MB).
 * Redirects are refused: signatures go to the given endpoint only (I9).
 *
 * Guarantee: an object is replaced at once. Nothing is sent once the right to write is lost, and what is under way is
 * broken off.
 * Source of truth: the object store.
 * Worst outcome of a crash: parts of a large object that was never finished; a rule of the bucket removes those.
 *
 * @throws MirrorError `usage` for an address that cannot be used, and without the keys of an object store
 */
export function openObjectStore(address: string, { clock, env, onSecrets }: StoreSurroundings): FileStore {
  const { bucket, prefix } = readTarget(address);
  const access = readAccess(env, bucket);
  onSecrets([access.secretAccessKey]);
  const below = prefix === "" ? "" : `${prefix}/`;
  const sender = (signal: AbortSignal, beforeRequest?: () => void) =>
    requestSender(openClient(access, signal), clock, signal, beforeRequest);
  const list = async (folder: string, signal: AbortSignal) => {
    const keys = await listKeys(sender(signal), below + folder);
    return keys.map((key) => key.slice(below.length));
  };
  return {
    address,
    put: (key, content, { signal, assertHeld }) =>
      putObject(access, sender(signal, assertHeld), below + key, content, signal),
    read: async function* (key, signal) {
      const send = sender(signal);
      // Part by part, so that one that fails is asked for again.
      for (let from = 0; ; from += partBytes) {
        const part = await send(below + key, (s3) => getPart(s3, below + key, from));
        yield part;
        if (part.length !== partBytes) return;
      }
    },
    list,
    folders: async (folder, signal) => {
      const names = (await list(folder, signal)).map((key) => key.slice(folder.length).split("/"));
      return [...new Set(names.flatMap(([name = "", ...rest]) => (rest.length > 0 ? [name] : [])))];
    },
    remove: async (key, { signal, assertHeld }) => {
      const send = sender(signal, assertHeld);
      for (const each of key.endsWith("/") ? await list(key, signal) : [key])
        await send(below + each, (s3) => s3.deleteObject(below + each));
    },
  };
}

type S3Access = ReturnType<typeof readAccess>;

/** Makes a request about a key, again where it failed for a reason that may pass. */
type Send = <T>(key: string, request: (s3: S3mini) => Promise<T>) => Promise<T>;

/** @param beforeRequest called directly before each attempt; what it throws ends the work */
function requestSender(s3: S3mini, clock: Clock, signal: AbortSignal, beforeRequest?: () => void): Send {
  const once: Send = async (key, request) => {
    beforeRequest?.();
    try {
      return await request(s3);
    } catch (error) {
      throwIfAborted(signal, `the request to the object store was interrupted: ${key}`);
      throw error instanceof S3ServiceError ? refusalError(key, error) : networkError(key, error);
    }
  };
  return async (key, request) => {
    const untilMs = clock.monotonicMs() + retries.store.longestMs;
    for (let attempt = 1; ; attempt++)
      try {
        return await once(key, request);
      } catch (error) {
        const isLast = attempt === retries.store.attempts || clock.monotonicMs() >= untilMs;
        if (isLast || !(error instanceof MirrorError) || !error.retryable || signal.aborted) throw error;
        await clock.sleep(backoffMs(attempt, retries.store), signal);
      }
  };
}

/** A large object is invisible until all its parts are sent. */
async function putObject(
  access: S3Access,
  send: Send,
  key: string,
  content: string | Uint8Array,
  signal: AbortSignal,
): Promise<ContentFacts> {
  const isFile = typeof content === "string";
  const size = isFile ? (await stat(content)).size : content.length;
  const type = types.get(path.extname(key)) ?? "application/octet-stream";
  const id = size > partBytes ? await send(key, (s3) => s3.getMultipartUploadId(key, type)) : null;
  const sent: Awaited<ReturnType<S3mini["uploadPart"]>>[] = [];
  try {
    // A file may grow meanwhile.
    const range = { end: size - 1, highWaterMark: partBytes };
    const bytes = isFile ? new Uint8Array() : content;
    const parts = isFile && size > 0 ? createReadStream(content, range) : [bytes];
    const facts = await hashOf(parts, async (part) => {
      throwIfAborted(signal, `the upload was interrupted: ${key}`);
      if (id === null) {
        assert(part.length === size, "a small file is read in one part");
        await send(key, (s3) => s3.putObject(key, part, type));
      } else sent.push(await send(key, (s3) => s3.uploadPart(key, id, part, sent.length + 1)));
    });
    assert(facts.size_bytes === size, "a finished file keeps its length");
    if (id !== null) await send(key, (s3) => s3.completeMultipartUpload(key, id, sent));
    return facts;
  } catch (error) {
    // Also after the signal aborted: parts that nobody removes are paid for.
    const ending = id === null ? null : openClient(access).abortMultipartUpload(key, id);
    await ending?.catch(() => undefined);
    throw error;
  }
}

/** Empty where the object ends before it. */
async function getPart(s3: S3mini, key: string, from: number): Promise<Uint8Array> {
  try {
    return new Uint8Array(await (await s3.getObjectRaw(key, false, from, from + partBytes)).arrayBuffer());
  } catch (error) {
    if (error instanceof S3ServiceError && error.status === 416) return new Uint8Array();
    throw error;
  }
}

/** Every key that begins so. The library's own list asks for `/bucket/`, which not every server takes. */
async function listKeys(send: Send, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for (let token: string | undefined = ""; token !== undefined;) {
    const query = { "list-type": "2", prefix, ...(token !== "" && { "continuation-token": token }) };
    const page = async (s3: S3mini) => (await s3.getObjectRaw("", true, 0, undefined, query)).text();
    const text: string = await send(prefix, page);
    keys.push(...textsIn(text, "Key"));
    [token] = textsIn(text, "NextContinuationToken");
  }
  return keys;
}

function openClient(access: S3Access, signal?: AbortSignal): S3mini {
  const fetchWithoutRedirects: typeof fetch = (input, init) => {
    const signals = [signal, init?.signal].filter((each) => each instanceof AbortSignal);
    return fetch(input, { ...init, redirect: "error", signal: AbortSignal.any(signals) });
  };
  return new S3mini({ ...access, fetch: fetchWithoutRedirects, requestAbortTimeout: requestTimeoutMs });
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function textsIn(xml: string, element: string): string[] {
  const found = xml.matchAll(new RegExp(`<${element}>([^<]*)</${element}>`, "g"));
  return [...found].map(([, text = ""]) =>
    text.replaceAll(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (whole, decimal, hex, name) => {
      if (name) return entities[String(name)] ?? whole;
      return String.fromCodePoint(decimal ? Number(decimal) : Number.parseInt(String(hex), 16));
    }),
  );
}

function networkError(key: string, error: unknown): MirrorError {
  const cause = error instanceof Error && error.cause !== undefined ? `: ${messageOf(error.cause)}` : "";
  return new MirrorError("network", `the object store cannot be reached (${key})${cause}`, {
    retryable: true,
    hint: "Check AWS_ENDPOINT_URL and the network.",
    cause: error,
  });
}

function refusalError(key: string, error: S3ServiceError): MirrorError {
  const { status, serviceCode } = error;
  const isDenied = status === 401 || status === 403;
  const kind = isDenied ? "forbidden" : status === 404 ? "not_found" : "unavailable";
  const why = serviceCode === undefined ? `status ${status}` : `${serviceCode}, status ${status}`;
  return new MirrorError(kind, `the object store refused ${key}: ${why}`, {
    retryable: status >= 500 || status === 429,
    hint: isDenied
      ? "Check the key, its rights on the prefix, AWS_REGION and the clock."
      : "Check the bucket's name, AWS_REGION and AWS_ENDPOINT_URL.",
    cause: error,
  });
}

/** Parses `s3://bucket/some/prefix`; the prefix, without slashes at its ends, may be empty. @throws MirrorError `usage` */
export function readTarget(text: string): { readonly bucket: string; readonly prefix: string } {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text);
  const prefix = (match?.[2] ?? "").replace(/^\/+|\/+$/g, "");
  if (match?.[1] && !prefix.split("/").includes("..")) return { bucket: match[1], prefix };
  throw new MirrorError("usage", `"${text}" is not an address in an object store`, {
    hint: "Write s3://BUCKET or s3://BUCKET/PREFIX; a day for `export --to` is such as 2026-10-31.",
  });
}

/** Reads the environment variables that S3 tools share. @throws MirrorError `usage`: one is missing or unusable */
export function readAccess(env: NodeJS.ProcessEnv, bucket: string) {
  const unusable = "keys with a session token (AWS_SESSION_TOKEN) cannot be used for the object store";
  if (env["AWS_SESSION_TOKEN"])
    throw new MirrorError("usage", unusable, {
      hint: "Use a key of its own that may write below the prefix.",
    });
  const region = env["AWS_REGION"] || env["AWS_DEFAULT_REGION"] || "us-east-1";
  const own = env["AWS_ENDPOINT_URL_S3"] || env["AWS_ENDPOINT_URL"];
  return {
    region,
    /** With the bucket: `https://acme.s3.eu-central-1.amazonaws.com`, `http://127.0.0.1:9000/acme`. */
    endpoint: own ? `${webAddress(own)}/${bucket}` : amazonAddress(bucket, region),
    accessKeyId: needed(env, "AWS_ACCESS_KEY_ID"),
    secretAccessKey: needed(env, "AWS_SECRET_ACCESS_KEY"),
  };
}

function needed(env: NodeJS.ProcessEnv, name: string): string {
  const value = env[name];
  if (value) return value;
  throw new MirrorError("usage", `the object store needs the environment variable ${name}`, {
    hint: "Also: AWS_REGION, and AWS_ENDPOINT_URL for a service other than Amazon's.",
  });
}

function webAddress(text: string): string {
  const isWeb = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isWeb) throw new MirrorError("usage", `AWS_ENDPOINT_URL must be a web address (it is "${text}")`);
  if (new URL(text).protocol === "https:" || isLoopbackUrl(text)) return text.replace(/\/+$/, "");
  throw new MirrorError("usage", `AWS_ENDPOINT_URL must use https:// beyond this machine (it is "${text}")`, {
    hint: "Without it everybody on the way reads what is stored.",
  });
}

/** Amazon's certificate does not cover bucket names with a dot; such a bucket stands in the path. */
function amazonAddress(bucket: string, region: string): string {
  const host = `s3.${region}.amazonaws.com`;
  return bucket.includes(".") ? `https://${host}/${bucket}` : `https://${bucket}.${host}`;
}
