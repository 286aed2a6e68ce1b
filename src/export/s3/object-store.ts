import { S3mini, S3ServiceError } from "s3mini";
import { MirrorError, messageOf } from "../../base/errors.ts";
import type { S3Access } from "./target.ts";

/** The S3 operations of an upload. All reject with a MirrorError: `network`, `forbidden` or `unavailable`. */
export interface ObjectStore {
  /** Null: there is no such object. */
  read(key: string): Promise<string | null>;
  put(key: string, body: Uint8Array, type: string): Promise<void>;
  remove(key: string): Promise<void>;
  begin(key: string, type: string): Promise<PartsUpload>;
}

/** A large object, sent part by part; invisible until it is finished. */
interface PartsUpload {
  put(part: Uint8Array): Promise<void>;
  finish(): Promise<void>;
  abort(): Promise<void>;
}

/** For one request with a part of any size. */
const requestTimeoutMs = 300_000;

/**
 * Connects to an object store. Uses s3mini (300 kB without dependencies; the vendor's client has 15 MB).
 * Redirects are refused: signatures go to the given endpoint only (I9).
 */
export function connectStore(access: S3Access): ObjectStore {
  const s3 = new S3mini({ ...access, fetch: fetchWithoutRedirects, requestAbortTimeout: requestTimeoutMs });
  return {
    read: (key) => guardedRequest(key, () => s3.getObject(key)),
    put: (key, body, type) => guardedRequest(key, async () => void (await s3.putObject(key, body, type))),
    remove: (key) => guardedRequest(key, async () => void (await s3.deleteObject(key))),
    begin: async (key, type) => {
      const id = await guardedRequest(key, () => s3.getMultipartUploadId(key, type));
      const parts: Awaited<ReturnType<typeof s3.uploadPart>>[] = [];
      const put = async (part: Uint8Array) =>
        void parts.push(await s3.uploadPart(key, id, part, parts.length + 1));
      return {
        put: (part) => guardedRequest(key, () => put(part)),
        finish: () =>
          guardedRequest(key, async () => void (await s3.completeMultipartUpload(key, id, parts))),
        abort: () => guardedRequest(key, async () => void (await s3.abortMultipartUpload(key, id))),
      };
    },
  };
}

const fetchWithoutRedirects: typeof fetch = (input, init) => fetch(input, { ...init, redirect: "error" });

async function guardedRequest<T>(key: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw error instanceof S3ServiceError ? refusalError(key, error) : networkError(key, error);
  }
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
