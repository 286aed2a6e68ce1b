import type { Config } from "../../../src/config/config.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { manifest } from "./simulated-manifest.ts";

const configs = new Map<string, Config>();

/** The config with this token, as the program reads it. */
export function configWith(token: string): Config {
  let config = configs.get(token);
  if (config) return config;
  const text = `base_url: https://simulated.example/v1\ndata_dir: .\ncompanies: { acme: { token: "${token}" } }\n`;
  config = loadConfig({ env: {}, cwd: "/", readFile: () => text, connectors: [manifest] }).config;
  configs.set(token, config);
  return config;
}
