import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import { isIP } from "node:net";
import { onTestFinished, vi } from "vitest";

/** Until the end of the test every host name but this machine's leads there. */
export function everyNameLeadsTo(...addresses: readonly string[]): void {
  const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  const real = dns.lookup as (...args: readonly unknown[]) => void;
  const lookup = (host: string, ...args: readonly unknown[]) => {
    if (isIP(host) !== 0 || host === "localhost") real(host, ...args);
    else (args.at(-1) as (error: null, all: typeof found) => void)(null, found);
  };
  const spy = vi.spyOn(dns, "lookup").mockImplementation(lookup);
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
}
