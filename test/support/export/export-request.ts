import { systemClock } from "../../../src/base/clock.ts";
import type { ConnectorDeclaration } from "../../../src/connector/connector-declaration.ts";
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

export function exportParts(mirror: string, declaration: ConnectorDeclaration): ExportParts {
  return { mirror, declaration, clock: systemClock, reportDate: "2026-11-22", version: "1.2.3" };
}
