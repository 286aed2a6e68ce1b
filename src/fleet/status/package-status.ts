import { counted, formatSize } from "../../base/units.ts";
import { isoText, type Postgres } from "../postgres/connection.ts";
import type { PackageFailure, StoredPackage } from "../postgres/tables/packages-table.ts";

interface AskedMonth {
  readonly asked_at: string | null;
  /** When it is tried next; null: nothing is to be done. */
  readonly due_at: string | null;
  readonly made_at: string | null;
  readonly made: StoredPackage | null;
  /** Why the last attempt failed; null: none did since it was asked for. */
  readonly reason: PackageFailure | null;
  readonly error: string | null;
}

/** `partial`: it is there without all PDFs. */
type Judgement = readonly [outcome: "done" | "partial" | "failed" | "late", message: string];

/** Companies that have it are shown while they are few. */
const mostDone = 50;

/**
 * Reads in one statement who has the package of a month, and who has not and why; `companies` is what `fleet status
 * --package --json` prints. Exit 3 where one failed or lacks PDFs, otherwise 1 where one is late.
 *
 * @param only these companies; null: all
 * @throws MirrorError `database`
 */
export async function readPackageStatus(postgres: Postgres, month: string, only: readonly string[] | null) {
  const rows = await postgres.query<AskedMonth & { company: string; node: string | null; live: boolean }>(
    `SELECT c.name AS company, ${isoText("p.asked_at")} AS asked_at, ${isoText("p.due_at")} AS due_at,
       ${isoText("p.made_at")} AS made_at, p.made, p.reason, p.error, o.node, o.expires_at > clock_timestamp() AS live
     FROM fintoro_mirror.companies c
     LEFT JOIN fintoro_mirror.packages p ON p.company = c.name AND p.month = $1
     LEFT JOIN fintoro_mirror.owners o ON o.company = c.name
     WHERE NOT c.removed AND ($2::text[] IS NULL OR c.name = ANY($2)) ORDER BY c.name`,
    [month, only],
  );
  const all = rows.map(({ company, node, live, ...asked }) => {
    const owner =
      node === null ? "no worker has it yet" : live ? `${node} has it` : `${node} was lost with it`;
    const [outcome, message] = judge(asked, owner);
    return [company, { outcome, message, ...asked }] as const;
  });
  const of = (...wanted: Judgement[0][]) => all.filter(([, { outcome }]) => wanted.includes(outcome));
  const [done, failed, late] = [of("done"), of("failed", "partial"), of("late")];
  const counts = `${done.length} of ${counted(all.length, "company", "companies")} packed, ${failed.length} failed`;
  const lines = [
    `${month}: ${counts}, ${late.length} late`,
    ...[...failed, ...late].map(([name, one]) => `! ${name}: ${one.outcome}: ${one.message}`),
    ...(done.length > mostDone ? [] : done).map(([name, { message }]) => `  ${name}: ${message}`),
  ];
  const outcome = failed.length > 0 ? "partial" : late.length > 0 ? "difference" : "complete";
  return { companies: Object.fromEntries(all), lines, outcome } as const;
}

function judge({ asked_at, due_at, made_at, made, reason, error }: AskedMonth, owner: string): Judgement {
  if (asked_at === null) return ["late", "it was not asked for"];
  if (reason !== null) return ["failed", `${failures[reason]}: ${error}; next try at ${due_at}`];
  if (due_at !== null || !made) return ["late", owner];
  const stored = `${made.key}, ${formatSize(made.bytes)}, of ${made_at}`;
  const { length: missing } = made.without_pdf;
  return missing === 0
    ? ["done", stored]
    : ["partial", `${counted(missing, "document")} without a PDF: ${stored}`];
}

const failures: Readonly<Record<PackageFailure, string>> = {
  token_refused: "the token is refused",
  not_proved: "the month is not proved",
  failed: "it could not be packed",
};
