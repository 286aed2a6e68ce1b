import type { Config } from "../../../src/config/config.ts";
import { loadConfig } from "../../../src/config/load.ts";
import type { ParentsPerRun } from "../../../src/sync/plan/scrub.ts";
import { declaration } from "./simulated-declaration.ts";

const configs = new Map<string, Config>();

/** The config with this token, as the program reads it. */
export function configWith(token: string, parentsPerRun: ParentsPerRun = "auto"): Config {
  const parents = `resources: { contact_activity_logs: { parents_per_run: ${parentsPerRun} } }`;
  const text = `base_url: https://simulated.example/v1\ndata_dir: .\ncompanies: { acme: { token: "${token}" } }\n${parents}\n`;
  let config = configs.get(text);
  if (config) return config;
  config = loadConfig({ env: {}, cwd: "/", readFile: () => text, connectors: [declaration] }).config;
  configs.set(text, config);
  return config;
}
