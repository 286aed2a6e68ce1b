import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Sandbox } from "../../support/sandbox/control.ts";

/** A request as it arrived at the sandbox, and its answer. */
export interface SeenRequest {
  readonly company: string;
  /** Who sent it, see `tag-requests.ts`; null for a request without a tag. */
  readonly process: string | null;
  readonly method: string;
  readonly path: string;
  /** By the wall clock, when its head was read, ms. */
  readonly atMs: number;
  /** Null while it is not answered. */
  status: number | null;
}

/** The header by which processes are distinguished. */
export const processHeader = "x-chaos-process";

/** Sees every request that bears a company's token, from now on; the sandbox runs in this process. */
export class RequestWatch {
  readonly requests: SeenRequest[] = [];
  readonly #byResponse = new WeakMap<ServerResponse, SeenRequest>();
  readonly #companies: ReadonlyMap<string, string>;
  readonly #port: number;

  /** @param names of the companies, in the order of the sandbox */
  constructor(sandbox: Sandbox, names: readonly string[]) {
    this.#port = sandbox.port;
    this.#companies = new Map(sandbox.companies.map(({ token }, i) => [`Bearer ${token}`, names[i] ?? ""]));
    subscribe("http.server.request.start", this.#onStart);
    subscribe("http.server.response.finish", this.#onFinish);
  }

  close(): void {
    unsubscribe("http.server.request.start", this.#onStart);
    unsubscribe("http.server.response.finish", this.#onFinish);
  }

  readonly #onStart = (message: unknown): void => {
    // The channel's messages are documented, but have no type.
    const { request, response, server } = message as Message;
    if ((server.address() as AddressInfo | null)?.port !== this.#port) return;
    const company = this.#companies.get(request.headers.authorization ?? "");
    if (company === undefined) return;
    const header = request.headers[processHeader];
    const process = typeof header === "string" ? header : null;
    const { method = "", url = "" } = request;
    const seen = { company, process, method, path: url, atMs: Date.now(), status: null };
    this.requests.push(seen);
    this.#byResponse.set(response, seen);
  };

  readonly #onFinish = (message: unknown): void => {
    const { response } = message as Message;
    const seen = this.#byResponse.get(response);
    if (seen) seen.status = response.statusCode;
  };
}

interface Message {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly server: Server;
}
