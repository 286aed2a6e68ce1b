import { sql } from "kysely";
import { isoOrNull } from "../../../base/clock.ts";
import type { HandOverCounts } from "../../../state/as-of/hand-overs.ts";
import type { Postgres } from "../connection.ts";
import { epochMs } from "../fleet-database.ts";
import type { ReportRow } from "./reports-table.ts";

/** What `fleet status --radar` says of a mirror. Times are ISO. */
export interface MirrorRadar {
  /** By what else is said here. */
  readonly needs_someone: boolean;
  /** As the last run found it. `missing`: this worker does not have it; `untried`: no run has ended. */
  readonly token: "accepted" | "refused" | "other company's" | "missing" | "untried";
  /** `off`: the config names no secret. `gap`: events may be lost, and no run has read everything since. */
  readonly webhook: "off" | "differs" | "gap" | "no event yet" | "receives";
  /** The latest month that was handed over, and how many documents changed since of all that were; null: none was. */
  readonly handed_over: ReturnType<HandOverCounts["read"]>[number] | null;
  /** Since then every list and record was read at least once; null: something was never read. */
  readonly read_since: string | null;
  /** When `verify` last found everything equal, on this worker; null: it did not. */
  readonly verified_at: string | null;
}

/** A company as `fleet status --radar --json` prints it: as its published snapshot and report say. */
export interface RadarCompany extends Pick<ReportRow, "answers"> {
  readonly tags: readonly string[];
  /** By the clock of the node that took it; null: none was published. */
  readonly snapshot_at: string | null;
  /** Null: no snapshot says it. */
  readonly mirror: MirrorRadar | null;
}

/** Companies by name, in the order of their rows. */
export type Radar = ReadonlyMap<string, RadarCompany>;

/** Which companies are shown: by a part of their name, and by a tag; empty: all. */
export interface RadarQuestion {
  readonly text: string;
  readonly tag: string;
}

const members = sql`fintoro_mirror.companies c LEFT JOIN fintoro_mirror.snapshots s ON s.company = c.name`;
/** A list as an array, and a time as ISO, would take the driver and the server longer than all else. */
const shown = sql`c.name, array_to_string(c.tags, ' ') AS tags, ${epochMs(sql.ref("s.taken_at"))} AS "takenMs",
  s.facts -> 'summary' -> 'radar' AS mirror, r.answers`;
const reports = sql`LEFT JOIN fintoro_mirror.reports r ON r.company = c.name`;

interface StoredRow extends Pick<RadarCompany, "mirror" | "answers"> {
  readonly name: string;
  readonly tags: string;
  readonly takenMs: number | null;
}

function radarOf(rows: readonly StoredRow[]): Radar {
  const companies = rows.map(({ name, tags, takenMs, mirror, answers }) => {
    const snapshot_at = isoOrNull(takenMs);
    return [name, { tags: tags === "" ? [] : tags.split(" "), snapshot_at, mirror, answers }] as const;
  });
  return new Map(companies);
}

/** Reads what workers wrote of the companies, or of some of them, in one statement. */
export async function readRadar({ db }: Postgres, only: readonly string[] | null): Promise<Radar> {
  const { rows } = await sql<StoredRow>`SELECT ${shown} FROM ${members} ${reports}
    WHERE NOT c.removed AND (${only}::text[] IS NULL OR c.name = ANY(${only})) ORDER BY c.name`.execute(db);
  return radarOf(rows);
}

export type RadarPage = Awaited<ReturnType<typeof readRadarPage>>;

/** Reads so many companies, those first that need someone, and counts all, in one statement. */
export async function readRadarPage({ db }: Postgres, { text, tag }: RadarQuestion, most: number) {
  const { rows } = await sql<StoredRow & { found: number; needing: number }>`WITH matching AS (
      SELECT c.name, coalesce((s.facts #>> '{summary,radar,needs_someone}')::boolean, false) AS needs FROM ${members}
      WHERE NOT c.removed AND strpos(lower(c.name), lower(${text})) > 0 AND (${tag} = '' OR ${tag} = ANY(c.tags))),
    first AS (SELECT * FROM matching ORDER BY needs DESC, name LIMIT ${most})
    SELECT ${shown}, (SELECT count(*) FROM matching) AS found, (SELECT count(*) FROM matching WHERE needs) AS needing
    FROM ${members} ${reports} JOIN first ON first.name = c.name ORDER BY first.needs DESC, c.name`.execute(
    db,
  );
  return { companies: radarOf(rows), found: rows[0]?.found ?? 0, needing: rows[0]?.needing ?? 0 };
}
