import { onTestFinished } from "vitest";
import type { SandboxOptions } from "../../../connectors/fintoro/sandbox/sandbox-options.ts";
import { openCompany, type Company } from "./open-company.ts";

export { testRateLimiter, fastClock, scrubOf, sync, type Company, type SyncOptions } from "./open-company.ts";

/** A company in its sandbox, a proxy before it and an empty folder; all gone with the test. */
export async function aCompany(options: SandboxOptions = {}): Promise<Company> {
  const company = await openCompany(options);
  onTestFinished(() => company.close());
  return company;
}
