import { BlockList, isIP } from "node:net";
import { MirrorError } from "../base/errors.ts";

/** The value of a text, or what the text would have to be: `must` completes "it must …". */
export type TextValue<T> = { readonly value: T } | { readonly must: string };

/** Is it this machine? Only there may plain http go. */
function isLoopbackHost(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** A folder: no text would be the working folder, an address or one with a typo a folder of that name. */
export const folderForm = /^(?![a-zA-Z][a-zA-Z\d+.-]+:\/)./s;
export const bucketForm = /^s3:\/\/[^/]/;
export const placeForm = new RegExp(`${bucketForm.source}|${folderForm.source}`, "s");

export function isLoopbackUrl(url: string): boolean {
  return URL.canParse(url) && isLoopbackHost(new URL(url).hostname);
}

/** An https address, or http on this machine; without credentials. A refusal never repeats the text. */
function readAddress(text: string): TextValue<URL> {
  if (!URL.canParse(text)) return { must: "be a URL such as https://example.com/path" };
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") return { must: "carry no user name or password" };
  if (url.hash !== "") return { must: "have nothing after a #" };
  if (url.protocol === "https:") return { value: url };
  if (url.protocol === "http:" && isLoopbackHost(url.hostname)) return { value: url };
  return { must: "use https:// (http:// only for this machine: 127.0.0.1, [::1] or localhost)" };
}

/** Nothing of the internet: IANA's registries of special-purpose addresses, multicast, and what was not given out. */
const specialNetworks = [
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24",
  "192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3",
  // All but 2000::/3, and of that Teredo and others, documentation, and 6to4, which leads to any IPv4.
  "::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 3fff::/20",
].flatMap((row) => row.split(" "));

/** Does an IP address lead to the internet? Not to this machine, a private network, or another machine by a detour. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family !== 4 && family !== 6) return false;
  const special = new BlockList();
  for (const [start = "", bits] of specialNetworks.map((network) => network.split("/")))
    if (isIP(start) === family) special.addSubnet(start, Number(bits), `ipv${family}`);
  return !special.check(address, `ipv${family}`);
}

/** The same of a URL's host; a name counts as public: what it leads to shows when it is looked up. */
export function isPublicHost(hostname: string): boolean {
  const address = hostname.replace(/^\[(.*)\]$/, "$1");
  return isIP(address) === 0 ? !isLoopbackHost(hostname) : isPublicAddress(address);
}

/** The service's address without a slash at its end: paths are appended to it. */
export function readBaseUrl(text: string): TextValue<string> {
  const read = readAddress(text);
  if (!("value" in read)) return read;
  if (/[?#]/.test(text)) return { must: "have nothing after a ?" };
  const address = read.value.href.replace(/\/+$/, "");
  return /[^:]\/\//.test(address) ? { must: "have no empty segment in its path" } : { value: address };
}

/** The address where the service reaches the receiver; it may have a query. */
export function readPublicUrl(text: string): TextValue<string> {
  const read = readAddress(text);
  return "value" in read ? { value: read.value.href } : read;
}

/** The same, not on this machine or in a private network as far as the address says so: a name may lead there. */
export function readInternetUrl(text: string): TextValue<string> {
  const read = readPublicUrl(text);
  if (!("value" in read) || isPublicHost(new URL(read.value).hostname)) return read;
  return { must: "lead to the internet, or have allow_private: on beside it" };
}

/** A host name in lower case: `mirror.internal.example.com`. */
export function readHostName(text: string): TextValue<string> {
  const isName = /^[^\s/?#@:[\]\\]+$/.test(text) && URL.canParse(`http://${text}`);
  return isName ? { value: new URL(`http://${text}`).hostname } : { must: "be a host name without a port" };
}

/**
 * May a page be shown to who asked for it with this `Host` header? A browser whose name server was made to lie (DNS
 * rebinding) sends the name of the page that it shows, so a name must be a known one. An address is no name.
 * Without the header no browser asked. `names` are in lower case.
 */
export function isPageHost(header: string | undefined, names: readonly string[]): boolean {
  if (header === undefined) return true;
  if (!URL.canParse(`http://${header}`)) return false;
  const name = new URL(`http://${header}`).hostname.replace(/\.$/, "");
  return name === "localhost" || isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0 || names.includes(name);
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** `127.0.0.1:8787`, `[::1]:8787`, `localhost:0` */
export function readListen(text: string): TextValue<ListenAddress> {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]/]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  // Pages are shown under this name, which a browser writes so.
  const host = (match?.[1] ?? match?.[2])?.toLowerCase();
  if (host !== undefined && port <= 65_535) return { value: { host, port } };
  return { must: 'be an address and a port such as "127.0.0.1:8787" or "[::1]:8787"' };
}

/** The value of `--listen`; null: it was not given. Throws MirrorError `usage`. */
export function parseListen(given: string | undefined): ListenAddress | null {
  if (given === undefined) return null;
  const reading = readListen(given);
  if ("value" in reading) return reading.value;
  throw new MirrorError("usage", `--listen must ${reading.must}`);
}

export function listenUrl(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

export function isLocalAddress({ host, port }: ListenAddress): boolean {
  return isLoopbackUrl(listenUrl(host, port));
}
