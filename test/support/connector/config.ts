import { loadConfig, type LoadedConfig, type LoadOptions } from "../../../src/config/load.ts";
import type { KnownConnector } from "../../../src/config/config-schema.ts";
import type { MirrorError } from "../../../src/base/errors.ts";
import { errorOf } from "../errors.ts";

/** A connector as small as the config needs it. */
export const pocketConnector: KnownConnector = {
  name: "fintoro",
  baseUrl: "https://service.example/api/v1",
  languages: ["en", "sk"],
  resources: [
    { name: "clients", list: { kind: "whole" } },
    { name: "invoices", list: { kind: "paged" }, files: true },
    { name: "contact_activity_logs", list: { kind: "parents" } },
  ],
};

/** The shortest config there is, and a place to add to it. */
export function minimal(more = ""): string {
  return `companies:\n  acme:\n    token: \${env:TOKEN}\n${more}`;
}

export interface Surroundings extends Partial<Omit<LoadOptions, "readFile">> {
  /** Files besides the config, by absolute path. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Loads `text` as /home/me/config.yaml. */
export function load(text: string, { files = {}, ...options }: Surroundings = {}): LoadedConfig {
  const all = new Map(Object.entries({ "/home/me/config.yaml": text, ...files }));
  return loadConfig({
    env: { TOKEN: "token-of-acme" },
    cwd: "/home/me",
    connectors: [pocketConnector],
    readFile: (path) => {
      const found = all.get(path);
      if (found === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT" });
      return found;
    },
    ...options,
  });
}

/** The error that loading `text` ends with, line by line. */
export function complaints(text: string, surroundings: Surroundings = {}): string[] {
  return complaint(text, surroundings).message.split("\n");
}

export function complaint(text: string, surroundings: Surroundings = {}): MirrorError {
  return errorOf(() => load(text, surroundings));
}
