import { MirrorError } from "../../base/errors.ts";
import { isLoopbackUrl } from "../../config/address.ts";
import type { Config } from "../../config/config.ts";
import { endpointFault } from "../../webhook/subscriptions/endpoint-rules.ts";
import { addressesOf } from "./addresses.ts";
import type { CommandContext } from "../program/command.ts";

/** Refuses a URL that the service would refuse, before a request is spent on it. */
export async function assertEndpoint({ log }: CommandContext, config: Config, url: string): Promise<void> {
  const fault = await endpointFault(url, { lookup: addressesOf, loopback: isLoopbackUrl(config.baseUrl) });
  if (!fault) return;
  if (fault.certain) throw new MirrorError("usage", fault.what, { hint: fault.hint });
  log.warn(fault.what, { hint: fault.hint });
}
