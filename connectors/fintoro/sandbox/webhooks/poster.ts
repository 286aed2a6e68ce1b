import { request as plainRequest } from "node:http";
import { request as tlsRequest } from "node:https";

/** The receiver's status, or why there is none. */
export interface PostResult {
  readonly status: number | null;
  readonly error: string | null;
}

interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** For all of one request, to the end of its answer. */
  readonly timeoutMs: number;
  /** Aborts what is under way. */
  readonly closing: AbortSignal;
}

/** Sends one POST; follows no redirect. `isAgain`: a kept connection was closed as the request went out. */
export function sendPost(post: Post, isAgain = false): Promise<PostResult> {
  const { url, body, timeoutMs, closing } = post;
  const late = AbortSignal.timeout(timeoutMs);
  const headers = { ...post.headers, "content-length": String(body.length) };
  const send = url.startsWith("https:") ? tlsRequest : plainRequest;
  const request = send(url, { method: "POST", headers, signal: AbortSignal.any([closing, late]) });
  return new Promise((resolve) => {
    const fail = ({ message }: Error) =>
      resolve({ status: null, error: late.aborted ? `no answer within ${timeoutMs} ms` : message });
    request.on("error", (error: NodeJS.ErrnoException) => {
      if (!isAgain && request.reusedSocket && error.code === "ECONNRESET") resolve(sendPost(post, true));
      else fail(error);
    });
    request.on("response", (response) => {
      response.on("end", () => resolve({ status: response.statusCode ?? 0, error: null }));
      response.on("error", fail);
      response.resume();
    });
    request.end(body);
  });
}
