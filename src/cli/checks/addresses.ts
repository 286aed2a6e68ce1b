import { lookup } from "node:dns/promises";

/** All addresses of a host name, as this machine sees them. */
export async function addressesOf(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}
