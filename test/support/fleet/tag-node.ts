import { subscribe } from "node:diagnostics_channel";

/**
 * Loaded into a worker before the program: each request that it sends to the service names its node. The program itself
 * does not: to the service all nodes are one client.
 */
subscribe("undici:request:create", (message) => {
  // Documented, but without a type.
  const { request } = message as { readonly request: { addHeader(name: string, value: string): void } };
  request.addHeader("x-node", process.env["NODE_TAG"] ?? "");
});
