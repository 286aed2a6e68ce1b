import { counted } from "../../base/units.ts";
import type { Radar, RadarCompany } from "../postgres/tables/radar-view.ts";

/** What is shown of a company besides its name. */
export const radarHeads = ["token", "webhook", "handed over", "proof", "what the report says"] as const;

/** The cells below `radarHeads`. Pure. */
export function radarCells({ mirror, answers }: RadarCompany): string[] {
  if (mirror === null) return ["not read yet", "", "", "", ""];
  const { token, webhook, handed_over: month, read_since: since, verified_at: verified } = mirror;
  const handedOver =
    month === null ? "none" : `${month.month}, ${counted(month.changed, "document")} changed since`;
  const read = since === null ? "not read whole" : `read since ${since.slice(0, 10)}`;
  const proof = verified === null ? read : `verified ${verified.slice(0, 10)}`;
  const says = answers === null ? "no report yet" : Object.values(answers).join("; ");
  return [token, webhook, handedOver, proof, says];
}

/** A line for each company; those that need someone are marked. Pure. */
export function radarLines(companies: Radar): string[] {
  const rows = [
    ["  company", ...radarHeads],
    ...[...companies].map(([name, one]) => [
      `${one.mirror?.needs_someone === true ? "!" : " "} ${name}`,
      ...radarCells(one),
    ]),
  ];
  const widths = [0, 1, 2, 3, 4].map((at) =>
    rows.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), 0),
  );
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
