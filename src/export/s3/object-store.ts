import { S3mini, S3ServiceError } from "s3mini";
import { throwIfAborted } from "../../base/cancellation.ts";
import { MirrorError, messageOf } from "../../base/errors.ts";
import type { S3Access } from "./target.ts";

/** For one request with a part of any size. */
const requestTimeoutMs = 300_000;

/**
 * The S3 operations of uploads and backups. All reject with a MirrorError: `network`, `forbidden`, `unavailable` or
 * `stopped`.
 */
export type ObjectStore = ReturnType<typeof connectStore>;

/**
 * Connects to an object store. Uses s3mini (300 kB without dependencies; the vendor's client has 15 MB).
 * Redirects are refused: signatures go to the given endpoint only (I9).
 *
 * @param signal ends requests that are under way
 */
export function connectStore(access: S3Access, signal?: AbortSignal) {
  const s3 = openClient(access, signal);
  const guardedRequest = async <T>(key: string, step: () => Promise<T>): Promise<T> => {
    try {
      return await step();
    } catch (error) {
      throwIfAborted(signal, `the request to the object store was interrupted: ${key}`);
      throw error instanceof S3ServiceError ? refusalError(key, error) : networkError(key, error);
    }
  };
  return {
    /** Null: there is no such object. */
    read: (key: string) => guardedRequest(key, () => s3.getObject(key)),
    /** The bytes from `from` up to before `to`. */
    readPart: async (key: string, from: number, to: number) => {
      const part = async () => (await s3.getObjectRaw(key, false, from, to)).arrayBuffer();
      return new Uint8Array(await guardedRequest(key, part));
    },
    /** Every key that begins so. The library's own list asks for `/bucket/`, which not every server takes. */
    list: async (prefix: string) => {
      const keys: string[] = [];
      for (let token: string | undefined = ""; token !== undefined;) {
        const query = { "list-type": "2", prefix, ...(token !== "" && { "continuation-token": token }) };
        const page = async () => (await s3.getObjectRaw("", true, 0, undefined, query)).text();
        const text = await guardedRequest(prefix, page);
        keys.push(...textsIn(text, "Key"));
        [token] = textsIn(text, "NextContinuationToken");
      }
      return keys;
    },
    put: (key: string, body: Uint8Array, type: string) =>
      guardedRequest(key, () => s3.putObject(key, body, type)),
    remove: (key: string) => guardedRequest(key, () => s3.deleteObject(key)),
    /** Begins a large object, sent part by part; it is invisible until it is finished. */
    begin: async (key: string, type: string) => {
      const id = await guardedRequest(key, () => s3.getMultipartUploadId(key, type));
      const parts: Awaited<ReturnType<typeof s3.uploadPart>>[] = [];
      const put = async (part: Uint8Array) =>
        parts.push(await s3.uploadPart(key, id, part, parts.length + 1));
      return {
        put: (part: Uint8Array) => guardedRequest(key, () => put(part)),
        finish: () => guardedRequest(key, () => s3.completeMultipartUpload(key, id, parts)),
        /** Also after the signal aborted: parts that nobody removes are paid for. */
        abort: () => guardedRequest(key, () => openClient(access).abortMultipartUpload(key, id)),
      };
    },
  };
}

function openClient(access: S3Access, signal?: AbortSignal): S3mini {
  const fetchWithoutRedirects: typeof fetch = (input, init) => {
    const signals = [signal, init?.signal].filter((each) => each instanceof AbortSignal);
    return fetch(input, { ...init, redirect: "error", signal: AbortSignal.any(signals) });
  };
  return new S3mini({ ...access, fetch: fetchWithoutRedirects, requestAbortTimeout: requestTimeoutMs });
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** The texts of these elements of an answer in XML. */
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
  const why = serviceCode === undefined ? `status ${status}` : `${serviceCode}, status ${status}`;
  return new MirrorError(isDenied ? "forbidden" : "unavailable", `the object store refused ${key}: ${why}`, {
    retryable: status >= 500 || status === 429,
    hint: isDenied
      ? "Check the key, its rights on the prefix, AWS_REGION and the clock."
      : "Check the bucket's name, AWS_REGION and AWS_ENDPOINT_URL.",
    cause: error,
  });
}
