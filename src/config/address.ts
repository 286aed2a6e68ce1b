import type { Reading } from "./config-values.ts";

/** This machine, and nobody on the way to it: the only place plain http may go. */
function isLoopbackHost(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

export function isLoopbackUrl(url: string): boolean {
  return URL.canParse(url) && isLoopbackHost(new URL(url).hostname);
}

/** An https address, or http on this machine; without credentials. Never quotes what it refuses. */
function readAddress(text: string): Reading<URL> {
  if (!URL.canParse(text)) return { must: "be a URL such as https://example.com/path" };
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") return { must: "carry no user name or password" };
  if (url.hash !== "") return { must: "have nothing after a #" };
  if (url.protocol === "https:") return { value: url };
  if (url.protocol === "http:" && isLoopbackHost(url.hostname)) return { value: url };
  return { must: "use https:// (http:// only for this machine: 127.0.0.1, [::1] or localhost)" };
}

/** The service's address: requests are made by appending to it. */
export function readBaseUrl(text: string): Reading<string> {
  const reading = readAddress(text);
  if (!("value" in reading)) return reading;
  if (reading.value.search !== "") return { must: "have nothing after a ?" };
  return { value: reading.value.href.replace(/\/+$/, "") };
}

export function readPublicUrl(text: string): Reading<string> {
  const reading = readAddress(text);
  return "value" in reading ? { value: reading.value.href } : reading;
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** `127.0.0.1:8787`, `[::1]:8787`, `localhost:0` */
export function readListen(text: string): Reading<ListenAddress> {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]/]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  const host = match?.[1] ?? match?.[2];
  if (host !== undefined && port <= 65_535) return { value: { host, port } };
  return { must: 'be an address and a port such as "127.0.0.1:8787" or "[::1]:8787"' };
}
