import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/logger.ts";
import { mirrorFiles } from "../config/mirror-files.ts";
import type { Manifest } from "../connector/connector-manifest.ts";
import { filedResources, fileKinds } from "../state/files/pending-files.ts";
import { stepsOf } from "../status/after-run-record.ts";
import type { StatusQuestion } from "../status/read-status.ts";
import type { CompanySettings } from "./daemon-context.ts";
import { parentsPerRun } from "./runs/company-run.ts";

/** What `status` and the status page ask of a company's files; when and from what they are read is theirs. */
export function statusQuestion(
  { config, company, resources }: CompanySettings,
  { manifest, clock, log }: { readonly manifest: Manifest; readonly clock: Clock; readonly log: Log },
): Omit<StatusQuestion, "db" | "maxAgeMs" | "nowMs"> {
  const kinds = fileKinds(config);
  return {
    files: mirrorFiles(config, company.name),
    manifest,
    company,
    resources: new Set(resources.map(({ name }) => name)),
    scrub: {
      settings: config.scrub,
      parentsPerRun: parentsPerRun(manifest, config),
      windowMs: config.rateLimit.windowMs,
    },
    rateLimit: config.rateLimit,
    steps: stepsOf(config),
    filed: filedResources(resources).filter(({ files: { kind } }) => kinds.includes(kind)),
    clock,
    log,
  };
}
