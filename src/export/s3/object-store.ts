import { S3mini, S3ServiceError } from "s3mini";
import { MirrorError, messageOf } from "../../base/errors.ts";
import type { S3Access } from "./target.ts";

/** As much of S3 as exports need. */
export interface ObjectStore {
  /** Null: there is none. */
  read(key: string): Promise<string | null>;
  put(key: string, body: Uint8Array, type: string): Promise<void>;
  remove(key: string): Promise<void>;
  begin(key: string, type: string): Promise<PartsUpload>;
}

/** A large object, given part by part; nobody sees it before it is finished. */
interface PartsUpload {
  put(part: Uint8Array): Promise<void>;
  finish(): Promise<void>;
  abort(): Promise<void>;
}

/** For one request, however large its part is. */
const requestMs = 300_000;

/**
 * s3mini: 300 kB, no dependency, where the vendor's client brings 15 MB. No request follows a redirect, so
 * signatures stay with the endpoint that was named.
 */
export function connectStore(access: S3Access): ObjectStore {
  const s3 = new S3mini({ ...access, fetch: sending, requestAbortTimeout: requestMs });
  return {
    read: (key) => told(key, () => s3.getObject(key)),
    put: (key, body, type) => told(key, async () => void (await s3.putObject(key, body, type))),
    remove: (key) => told(key, async () => void (await s3.deleteObject(key))),
    begin: async (key, type) => {
      const id = await told(key, () => s3.getMultipartUploadId(key, type));
      const parts: Awaited<ReturnType<typeof s3.uploadPart>>[] = [];
      return {
        put: (part) =>
          told(key, async () => void parts.push(await s3.uploadPart(key, id, part, parts.length + 1))),
        finish: () => told(key, async () => void (await s3.completeMultipartUpload(key, id, parts))),
        abort: () => told(key, async () => void (await s3.abortMultipartUpload(key, id))),
      };
    },
  };
}

const sending: typeof fetch = (input, init) => fetch(input, { ...init, redirect: "error" });

async function told<T>(key: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw storeError(key, error);
  }
}

function storeError(key: string, error: unknown): MirrorError {
  if (!(error instanceof S3ServiceError)) {
    const cause = error instanceof Error && error.cause !== undefined ? `: ${messageOf(error.cause)}` : "";
    return new MirrorError("network", `the object store cannot be reached (${key})${cause}`, {
      retryable: true,
      hint: "Check AWS_ENDPOINT_URL and the network.",
      cause: error,
    });
  }
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
