import { counted } from "../../base/units.ts";
import { isoText, type Postgres } from "../postgres/connection.ts";
import type { ReportRow } from "../postgres/tables/reports-table.ts";
import type { MirrorRadar } from "../snapshot/snapshot-facts.ts";

/** A company as `fleet status --radar --json` prints it: as its published snapshot and report say. */
interface RadarCompany extends Pick<ReportRow, "answers"> {
  readonly tags: readonly string[];
  /** By the clock of the node that took it; null: none was published. */
  readonly snapshot_at: string | null;
  /** Null: no snapshot says it. */
  readonly mirror: MirrorRadar | null;
}

type Radar = Readonly<Record<string, RadarCompany>>;

/** Reads what workers wrote of the companies, or of some of them, in one statement. Throws MirrorError `database`. */
export async function readRadar(postgres: Postgres, only: readonly string[] | null): Promise<Radar> {
  const rows = await postgres.query<RadarCompany & { company: string }>(
    `SELECT c.name AS company, c.tags, ${isoText("s.taken_at")} AS snapshot_at,
       s.facts -> 'summary' -> 'radar' AS mirror, r.answers
     FROM fintoro_mirror.companies c
     LEFT JOIN fintoro_mirror.snapshots s ON s.company = c.name
     LEFT JOIN fintoro_mirror.reports r ON r.company = c.name
     WHERE NOT c.removed AND ($1::text[] IS NULL OR c.name = ANY($1)) ORDER BY c.name`,
    [only],
  );
  return Object.fromEntries(rows.map(({ company, ...shown }) => [company, shown]));
}

const heading = ["  company", "token", "webhook", "handed over", "proof", "what the report says"];

/** A line for each company; those where somebody has to look are marked. Pure. */
export function radarLines(companies: Radar): string[] {
  const rows = [heading, ...Object.entries(companies).map(([name, one]) => cellsOf(name, one))];
  const widths = heading.map((_, at) => rows.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), 0));
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

function cellsOf(name: string, { mirror, answers }: RadarCompany): string[] {
  if (mirror === null) return [`  ${name}`, "not read yet"];
  const { token, webhook, handed_over: month, read_since: since, verified_at: verified } = mirror;
  const changed = month !== null && month.changed > 0;
  const isWrong = token !== "accepted" || webhook === "differs" || webhook === "gap" || changed;
  const handedOver =
    month === null ? "none" : `${month.month}, ${counted(month.changed, "document")} changed since`;
  const read = since === null ? "not read whole" : `read since ${since.slice(0, 10)}`;
  const proof = verified === null ? read : `verified ${verified.slice(0, 10)}`;
  const says = answers === null ? "no report yet" : Object.values(answers).join("; ");
  return [`${isWrong ? "!" : " "} ${name}`, token, webhook, handedOver, proof, says];
}
