import path from "node:path";
import { localDate } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import { someOf } from "../../base/names.ts";
import type { CompanyScope } from "../mirror/company-scope.ts";
import type { CommandRun } from "../program/command-table.ts";
import { forEachCompany } from "../runs/each-company.ts";
import { packageCompany } from "../runs/package-company.ts";

/** Packs a month of each company for its accountant. */
export const packageCommand: CommandRun<"package"> = (context, { options, loaded: { config } }) => {
  const { month, zip } = options;
  if (month === undefined) throw new MirrorError("usage", "package needs --month, such as --month 2026-10");
  const today = localDate(context.clock.nowMs(), config.schedule.timezone);
  if (month > today.slice(0, 7))
    throw new MirrorError("usage", `--month ${month} has not begun yet: today is ${today}`, {
      hint: "Give a month that is over, or the current one for what there is so far.",
    });
  const out = path.resolve(context.cwd, options.out ?? "package");
  const packOne = async (scope: CompanyScope) => {
    const { folder, zip: archive, manifest, ...packed } = await packageCompany(scope, { month, out, zip });
    const { withoutPdf, incomplete } = packed;
    const gaps = [
      ...(withoutPdf.length > 0 ? [`  without a PDF: ${someOf(withoutPdf, 10)}`] : []),
      ...(incomplete.length > 0 ? [`  details still to be read: ${incomplete.join(", ")}`] : []),
    ];
    const outcome = gaps.length > 0 ? ("partial" as const) : ("complete" as const);
    return {
      outcome,
      document: { outcome, folder, zip: archive, ...packed, files: manifest.files },
      lines: [`${scope.company.name}: ${manifest.files.length + 1} files: ${archive ?? folder}`, ...gaps],
    };
  };
  return forEachCompany(context, config, packOne, { isPartial: true });
};
