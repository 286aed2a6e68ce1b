import { counted, formatSize } from "../../base/units.ts";
import type { Postgres } from "../postgres/connection.ts";
import type { PackageFailure } from "../postgres/fleet-database.ts";
import { PackagesTable } from "../postgres/tables/packages-table.ts";

/** `partial`: it is there without all PDFs. */
type Judgement = readonly [outcome: "done" | "partial" | "failed" | "late", message: string];

/** Companies that have it are shown while they are few. */
const mostDone = 50;

/**
 * Reads in one statement who has the package of a month, and who has not and why; `companies` is what `fleet status
 * --package --json` prints. Exit 3 where one failed or lacks PDFs, otherwise 1 where one is late.
 *
 * @throws MirrorError `database`
 */
export async function readPackageStatus(postgres: Postgres, month: string, only: readonly string[]) {
  const rows = await new PackagesTable(postgres).ofMonth(month, only);
  const all = rows.map(({ company, node, live, failure, ...asked }) => {
    const nobody = failure === null ? "no worker has it yet" : `no worker can hold it: ${failure}`;
    const owner = node === null ? nobody : live ? `${node} has it` : `${node} was lost with it`;
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

type CompanyMonth = Awaited<ReturnType<PackagesTable["ofMonth"]>>[number];
type AskedMonth = Omit<CompanyMonth, "company" | "node" | "live" | "failure">;

function judge({ asked_at, due_at, made_at, made, reason, error }: AskedMonth, owner: string): Judgement {
  if (asked_at === null) return ["late", "it was not asked for"];
  if (reason !== null) return ["failed", `${failures[reason]}: ${error}; next try at ${due_at}`];
  if (due_at !== null || !made) return ["late", owner];
  const stored = `${made.key}, ${formatSize(made.bytes)}, ${made.proved ? "proved" : "not proved"}, of ${made_at}`;
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
