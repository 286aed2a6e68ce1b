import { systemClock, type Clock } from "../../../src/base/clock.ts";
import { silentLog, type Log } from "../../../src/base/logger.ts";
import type { Config } from "../../../src/config/config.ts";
import { createPageAccess } from "../../../src/status/page/page-access.ts";
import type { PageCompany } from "../../../src/status/page/page-facts.ts";
import { createStatusSite } from "../../../src/status/page/status-site.ts";
import { companyView } from "./company-view.ts";

export interface SiteFacts extends Partial<
  Pick<Parameters<typeof createPageAccess>[0], "isLocal" | "token">
> {
  readonly names?: readonly string[];
  readonly find?: (company: string) => PageCompany | null;
  readonly clock?: Clock;
  readonly log?: Log;
  /** @default all are well */
  readonly view?: (company: string) => ReturnType<typeof companyView>;
}

/** The pages of these companies, as they are seen on this machine without a token. */
export function aSite(facts: SiteFacts = {}): ReturnType<typeof createStatusSite> {
  const { isLocal = true, token = () => null, names = ["acme", "beta"], find = () => null } = facts;
  const { clock = systemClock, log = silentLog, view = (company) => companyView({ company }) } = facts;
  const known = { companies: names.map((name) => ({ name })), schedule: { timezone: "Europe/Bratislava" } };
  const source = {
    config: known as unknown as Config,
    pageOf: find,
    recentViews: () => Promise.resolve(names.map(view)),
  };
  return createStatusSite("1.2.3", createPageAccess({ clock, log, isLocal, token }), clock, source);
}
