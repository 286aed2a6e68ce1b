import { alignedColumn } from "../../base/terminal-text.ts";
import { counted } from "../../base/units.ts";
import type { Radar, RadarCompany } from "../postgres/tables/radar-view.ts";

/** What is shown of a company besides its name. */
export const radarHeads = ["token", "webhook", "handed over", "proof", "what the report says"] as const;

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
  const columns = (rows[0] ?? []).map((_, at) => alignedColumn(rows.map((row) => row[at] ?? "")));
  return rows.map((_, at) =>
    columns
      .map((column) => column[at])
      .join("  ")
      .trimEnd(),
  );
}
