import path from "node:path";
import { MirrorError } from "../../base/errors.ts";
import { someOf } from "../../base/names.ts";
import type { CommandRun } from "../program/command-table.ts";
import { forEachCompany } from "../runs/each-company.ts";
import { packageCompany } from "../runs/package-company.ts";

/** Packs a month of each company for its accountant. */
export const packageCommand: CommandRun<"package"> = (context, { options, loaded: { config } }) => {
  const { month, zip } = options;
  if (month === undefined) throw new MirrorError("usage", "package needs --month, such as --month 2026-10");
  const out = path.resolve(context.cwd, options.out ?? "package");
  return forEachCompany(context, config, async (scope) => {
    const { folder, zip: archive, manifest, ...packed } = await packageCompany(scope, { month, out, zip });
    const { withoutPdf, incomplete } = packed;
    const isPartial = withoutPdf.length + incomplete.length > 0;
    const gaps = [
      ...(withoutPdf.length > 0 ? [`  without a PDF: ${someOf(withoutPdf, 10)}`] : []),
      ...(incomplete.length > 0 ? [`  details still to be read: ${incomplete.join(", ")}`] : []),
    ];
    const outcome = isPartial ? "partial" : "complete";
    return {
      outcome,
      document: { outcome, folder, zip: archive, ...packed, files: manifest.files },
      lines: [`${scope.company.name}: ${manifest.files.length + 1} files: ${archive ?? folder}`, ...gaps],
    };
  });
};
