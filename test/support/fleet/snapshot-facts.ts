import { declaration } from "../../../connectors/fintoro/declaration.ts";
import { isoTime } from "../../../src/base/clock.ts";
import { settingsOf, type CompanySettings } from "../../../src/store/mirror-files.ts";
import { load } from "../connector/config.ts";

/** Of company `acme` on a node with this folder. No resource has to be read for a run to be whole. */
export function scopeIn(dataDir: string): CompanySettings {
  const text = `companies: { acme: { token: "1234567890abcdef" } }\ndata_dir: ${JSON.stringify(dataDir)}\n`;
  const { config } = load(text);
  const [company] = config.companies;
  if (!company) throw new Error("the config names acme");
  return { ...settingsOf(config, company, declaration), resources: [] };
}

/** What a snapshot says of a mirror without troubles that was read whole an hour ago. */
export function healthyFacts(more: Readonly<Record<string, unknown>> = {}) {
  const at = isoTime(Date.now() - 3_600_000);
  const reads = { handed_over: { month: "2026-10", at, changed: 0 }, read_since: at, verified_at: null };
  const radar = { needs_someone: false, token: "accepted", webhook: "receives", ...reads };
  return {
    last_run: { id: 1, outcome: "complete", finished_at: at },
    failed_start: null,
    summary: { whole_at: at, reads_waiting: 0, day_requests: 40, conditions: [], radar, ...more },
  };
}
