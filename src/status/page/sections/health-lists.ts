import { formatCount, formatDuration, formatSize } from "../../../base/units.ts";
import { nameOfTarget } from "../../../state/work-item.ts";
import { targetsLeft } from "../../alerts/incidents.ts";
import type { CompanyPageFacts } from "../facts/facts-reader.ts";
import { cut, html, type Html } from "../markup/html.ts";
import { when } from "../markup/moments.ts";
import { counted, emptyText, joined, note, pagePart, rowList, type Row } from "../markup/page-part.ts";

const mostProblems = 20;
const mostIncidents = 8;
const mostCharacters = 300;

/** Reads that were given up, and records that cannot become a row, each with its reason. */
export function problemList({ status: { health }, moment }: CompanyPageFacts): Html {
  const problems = [
    ...(health?.setAside ?? []).map((one) => ({
      ...one,
      name: nameOfTarget(one.target),
      since: `set aside after ${one.attempts} attempts until the next run`,
    })),
    ...(health?.quarantine ?? []).map((one) => ({
      ...one,
      name: one.recordId === null ? "without id" : String(one.recordId),
      since: ["in quarantine since ", when(one.at, moment)],
    })),
  ];
  const rows = problems.slice(0, mostProblems).map(({ resource, name, since, reason }): Row => {
    const text = cut(reason, mostCharacters);
    return { name: resource.replaceAll("_", " "), about: name, small: [since], text };
  });
  const left = formatCount(problems.length - rows.length);
  const more = html`and ${left} more: <code>fintoro-mirror status --json</code> has all`;
  return pagePart(
    "problems",
    "Set aside and quarantine",
    [
      rowList(rows, "No read was given up, and every record is a row."),
      problems.length > rows.length && emptyText(more),
    ],
    rows.length === 0 ? null : formatCount(problems.length),
  );
}

/** Report, exports, backups and files: how each went last, and how old it is. */
export function outputs({ view, status: { files }, moment }: CompanyPageFacts): Html {
  const steps = view.afterRun.steps.map((one): Row => {
    const name = cut(one.step);
    if (one.outcome === null) return { name, small: ["not made yet"], badge: ["plain", "waiting"] };
    const about = when(one.at, moment);
    if (one.outcome !== "failed")
      return {
        name,
        about,
        small: [`took ${formatDuration(one.duration_ms)}`],
        badge: ["good", one.outcome],
      };
    const small = [["last made ", when(one.last_success_at, moment)]];
    return { name, about, small, text: cut(one.error ?? "", mostCharacters), badge: ["bad", "failed"] };
  });
  const rows = [
    ...steps,
    ...(files && files.stored + files.pending + files.problems > 0 ? [fileRow(files)] : []),
  ];
  const body = rowList(rows, "The config asks for no report and no export.");
  return pagePart("outputs", "Reports and exports", body);
}

function fileRow({
  stored,
  pending,
  problems,
  stored_bytes: bytes,
}: NonNullable<CompanyPageFacts["status"]["files"]>): Row {
  return {
    name: "documents' files",
    about: `${counted(stored, "file")}, ${formatSize(bytes)}`,
    small: [
      pending > 0 ? `${counted(pending, "record")} still to be fetched` : "all fetched",
      ...(problems > 0 ? [`${formatCount(problems)} records without a usable file`] : []),
    ],
    badge: [problems > 0 ? "look" : "good", pending > 0 ? "fetching" : "stored"],
  };
}

/** What the last `verify` found. */
export function proof({ status: { verified }, moment }: CompanyPageFacts): Html {
  if (verified === null) {
    const hint = html`Never compared with the service. <code>fintoro-mirror verify</code> does.`;
    return pagePart("proof", "Proof", emptyText(hint));
  }
  const { at, by, match, differences, uncompared, records_compared: records } = verified;
  const differing =
    differences > 0
      ? `${counted(differences, "record")} differ`
      : `${counted(uncompared, "thing")} could not be compared`;
  const details = `${formatCount(verified.details_compared)} of ${formatCount(verified.details_total)} details`;
  const row: Row = {
    name: match ? "equal to the service" : differing,
    about: when(at, moment),
    small: [`by ${cut(by)} · ${counted(records, "record")} and ${details} compared`],
    badge: match ? ["good", "proven"] : ["look", "differs"],
  };
  return pagePart("proof", "Proof", rowList([row]));
}

/** Incidents and what is sent about them, and what the mirror takes on disk. */
export function alertList({ view, status, moment }: CompanyPageFacts): Html {
  const open = view.alerts.incidents.filter(({ ended_at: ended }) => ended === null);
  const past = view.alerts.incidents.filter(({ ended_at: ended }) => ended !== null);
  const undelivered = targetsLeft(view.alerts).map(({ target, count, error }): Row => {
    const why = error !== null && { text: cut(error, mostCharacters) };
    const name = `${counted(count, "alert")} not delivered`;
    return { name, about: ["to ", cut(target)], ...why, badge: ["look", "waiting"] };
  });
  const incidents = [...open, ...past].slice(0, mostIncidents).map((one): Row => {
    const over = one.ended_at !== null && ["over ", when(one.ended_at, moment)];
    const small = [joined([["began ", when(one.began_at, moment)], over])];
    const text = cut(one.message, mostCharacters);
    const badge = over === false ? (["bad", "open"] as const) : (["plain", "over"] as const);
    return { name: one.kind, about: one.subject, small, text, badge };
  });
  const list = rowList([...undelivered, ...incidents], "No incident.");
  const aside = open.length === 0 ? null : `${open.length} open`;
  return pagePart("alerts", "Alerts", [list, diskNote(view.fileBytes, status.health)], aside);
}

function diskNote(
  fileBytes: CompanyPageFacts["view"]["fileBytes"],
  health: CompanyPageFacts["status"]["health"],
): Html | null {
  if (!health) return null;
  const { database_bytes: database, wal_bytes: log } = health.sizes;
  const used = `${formatSize(database)}, write-ahead log ${formatSize(log)}`;
  return note("Disk", joined([used, fileBytes && `${freeText(fileBytes.diskFree)} free`]));
}

/** Whole gigabytes where there are many: every program of the machine changes the rest all the time. */
function freeText(bytes: number): string {
  return bytes < 10e9 ? formatSize(bytes) : `${formatCount(Math.floor(bytes / 1e9))} GB`;
}
