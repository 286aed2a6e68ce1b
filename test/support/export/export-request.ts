import { systemClock } from "../../../src/base/clock.ts";
import type { Manifest } from "../../../src/connector/connector-manifest.ts";
import type { ExportParts, ExportRequest } from "../../../src/export/plan/export-request.ts";

/** Whole tables of company `acme`, as the command asks for them where nothing else is said. */
export const plainRequest = {
  format: "csv",
  company: "acme",
  tables: [],
  dialect: "standard",
  partition: null,
  language: "en",
  since: null,
  period: null,
  nested: false,
} as const satisfies Partial<ExportRequest>;

/** What an export of this mirror needs. */
export function exportParts(mirror: string, manifest: Manifest): ExportParts {
  return { mirror, manifest, clock: systemClock, reportDate: "2026-11-22", version: "1.2.3" };
}
