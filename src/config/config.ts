import type { z } from "zod";
import type { Secret } from "../base/secret.ts";
import type { configSchema } from "./config-schema.ts";

/** A value that nobody can change, with everything in it. */
type Frozen<T> = T extends Secret | string | number | boolean | null
  ? T
  : { readonly [K in keyof T]: Frozen<T[K]> };

/** The whole configuration: complete (defaults filled in), checked, frozen. Numbers carry their unit. */
export type Config = Frozen<z.output<ReturnType<typeof configSchema>>>;

export type CompanyConfig = Config["companies"][number];

export type ExportConfig = Config["exports"][number];

/**
 * What becomes of each section of the config. `runtime`: a company runtime is built from it; the others are read where
 * they are used, or by the process. `fleet`: a company takes it along to the nodes of a fleet; the others are said apart
 * there, or about a process and its machine (`leftOutOf`).
 */
const sectionUses = {
  connector: [],
  baseUrl: ["runtime"],
  dataDir: [],
  language: ["runtime", "fleet"],
  companies: [],
  resources: ["runtime", "fleet"],
  scrub: ["runtime", "fleet"],
  rateLimit: ["runtime", "fleet"],
  http: ["runtime", "fleet"],
  schedule: ["runtime", "fleet"],
  serve: [],
  exports: ["fleet"],
  backup: ["runtime", "fleet"],
  files: ["runtime", "fleet"],
  report: ["fleet"],
  retention: ["runtime", "fleet"],
  alerts: ["fleet"],
  notify: ["runtime", "fleet"],
  log: [],
  mcp: [],
  fleet: [],
} satisfies Record<keyof Config, readonly ("runtime" | "fleet")[]>;

export function sectionsFor(use: "runtime" | "fleet"): string[] {
  return Object.entries(sectionUses).flatMap(([key, uses]: [string, readonly string[]]) =>
    uses.includes(use) ? [key] : [],
  );
}
