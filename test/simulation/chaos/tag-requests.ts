import { subscribe } from "node:diagnostics_channel";
import { processHeader } from "./request-watch.ts";

/**
 * Loaded into a worker's process before the program: each request that it sends names the process. The program itself
 * does not: to the service all workers are one client.
 */
subscribe("undici:request:create", (message) => {
  // Documented, but without a type.
  const { request } = message as { readonly request: { addHeader(name: string, value: string): void } };
  request.addHeader(processHeader, process.env["CHAOS_PROCESS"] ?? "");
});
