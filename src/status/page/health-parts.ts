import { elapsedSince } from "../../base/clock.ts";
import { counted, formatCount, formatDuration, formatSize } from "../../base/units.ts";
import { earliest } from "../../state/sweeps.ts";
import { nameOfTarget } from "../../state/work-item.ts";
import { targetsLeft } from "../alerts/incidents.ts";
import type { ResourceHealth } from "../mirror-health.ts";
import type { CompanyPageFacts } from "./page-facts.ts";
import { isFirstRun } from "./headline.ts";
import { cut, html, type Html } from "./html.ts";
import { roughly, when } from "./moments.ts";
import { bar, emptyText, joined, note, pagePart, rowList, table, type ListRow } from "./page-part.ts";
import type { FileCounts } from "../../state/files/pending-files.ts";

const mostProblems = 20;
const mostIncidents = 8;
const mostCharacters = 300;

/** How old each resource's list is against the promise, and how much of it is here. */
export function freshness(facts: CompanyPageFacts): Html {
  const { status, view } = facts;
  const rows = (status.health?.resources ?? [])
    .filter((one) => !one.left_out)
    .map((one) => freshnessRow(one, facts));
  if (rows.length === 0) {
    const none = emptyText("Nothing was mirrored yet. The first run lists everything.");
    return pagePart("freshness", "Freshness", none);
  }
  const caption = "Records of each resource, and when its list was last read whole";
  const body = table(caption, ["Resource", "Records", "Read whole"], rows);
  const promise = formatDuration(view.limits.freshForMs).replace(/ 00m$/, "");
  return pagePart("freshness", "Freshness", body, `promise: read whole within ${promise}`);
}

function freshnessRow(one: ResourceHealth, { view, moment }: CompanyPageFacts): Html {
  const { freshForMs } = view.limits;
  const { name, live, expected, sweptAt } = one;
  const ageMs = sweptAt === null ? Infinity : elapsedSince(Date.parse(sweptAt), moment.nowMs);
  const isLate = ageMs > freshForMs && !isFirstRun(view);
  const isPart = expected !== null && live < expected;
  const left = isLate ? html`<strong class="late bad">late</strong>` : bar(1 - ageMs / freshForMs, "good");
  return html`<tr>
    <th scope="row">${name.replaceAll("_", " ")}<small>${detailsOf(one, moment.nowMs)}</small></th>
    <td class="number">${formatCount(live)}${isPart && html` <span>of ${formatCount(expected)}</span>`}</td>
    <td class="age">
      <div><span>${sweptAt === null ? "not yet" : when(sweptAt, moment)}</span>${left}</div>
    </td>
  </tr>`;
}

function detailsOf(one: ResourceHealth, nowMs: number) {
  const { provisional, deleted, parents_never_read: unread } = one;
  const stalest = earliest([one.oldest_detail_at, one.oldest_parent_at].filter((at) => at !== null));
  return joined([
    provisional > 0 && `${formatCount(provisional)} without detail`,
    unread > 0 && `lists of ${formatCount(unread)} parents never read`,
    stalest !== null && `stalest detail ${roughly(nowMs - Date.parse(stalest))} ago`,
    deleted > 0 && `${formatCount(deleted)} deleted`,
  ]);
}

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
  const rows = problems.slice(0, mostProblems).map(({ resource, name, since, reason }): ListRow => {
    const text = cut(reason, mostCharacters);
    return { name: resource.replaceAll("_", " "), about: name, small: [since], text };
  });
  const list = rowList(rows, "No read was given up, and every record is a row.");
  const left = formatCount(problems.length - rows.length);
  const more = html`and ${left} more: <code>fintoro-mirror status --json</code> has all`;
  const body = [list, problems.length > rows.length && emptyText(more)];
  const aside = rows.length === 0 ? null : formatCount(problems.length);
  return pagePart("problems", "Set aside and quarantine", body, aside);
}

/** Report, exports, backups, files and months handed over: how each went last, and how old it is. */
export function outputs({ view, status: { files }, handOvers, moment }: CompanyPageFacts): Html {
  const steps = view.afterRun.steps.map((one): ListRow => {
    const name = cut(one.step);
    if (one.outcome === null) return { name, small: ["not made yet"], badge: ["plain", "waiting"] };
    const about = when(one.at, moment);
    const took = `took ${formatDuration(one.duration_ms)}`;
    if (one.outcome !== "failed") return { name, about, small: [took], badge: ["good", one.outcome] };
    const small = [["last made ", when(one.last_success_at, moment)]];
    return { name, about, small, text: cut(one.error ?? "", mostCharacters), badge: ["bad", "failed"] };
  });
  const fetched = files && files.stored + files.pending + files.problems > 0 ? [fileRow(files)] : [];
  const months = handOvers.map(({ month, at, changed, pruned }): ListRow => {
    const known = pruned ? ", as far as the change log reaches" : "";
    return {
      name: `month ${month}`,
      about: when(at, moment),
      small: [`${counted(changed, "document")} changed since it was handed over${known}`],
      badge: changed > 0 ? ["look", "changed"] : pruned ? ["plain", "not known"] : ["good", "handed over"],
    };
  });
  const body = rowList([...steps, ...fetched, ...months], "The config asks for no report and no export.");
  return pagePart("outputs", "Reports and exports", body);
}

function fileRow({ stored, pending, problems, stored_bytes: bytes }: FileCounts): ListRow {
  const left = pending > 0 ? `${counted(pending, "record")} still to be fetched` : "all fetched";
  const unusable = `${formatCount(problems)} records without a usable file`;
  return {
    name: "documents' files",
    about: `${counted(stored, "file")}, ${formatSize(bytes)}`,
    small: [left, ...(problems > 0 ? [unusable] : [])],
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
  const row: ListRow = {
    name: match ? "equal to the service" : differing,
    about: when(at, moment),
    small: [`by ${cut(by)} · ${counted(records, "record")} and ${details} compared`],
    badge: match ? ["good", "proven"] : ["look", "differs"],
  };
  return pagePart("proof", "Proof", rowList([row]));
}

/** Incidents and what is sent about them, and what the mirror takes on disk. */
export function alertList(facts: CompanyPageFacts): Html {
  const { view, moment } = facts;
  const open = view.alerts.incidents.filter(({ ended_at: ended }) => ended === null);
  const past = view.alerts.incidents.filter(({ ended_at: ended }) => ended !== null);
  const undelivered = targetsLeft(view.alerts).map(({ target, count, error }): ListRow => {
    const why = error !== null && { text: cut(error, mostCharacters) };
    const name = `${counted(count, "alert")} not delivered`;
    return { name, about: ["to ", cut(target)], ...why, badge: ["look", "waiting"] };
  });
  const incidents = [...open, ...past].slice(0, mostIncidents).map((one): ListRow => {
    const over = one.ended_at !== null && ["over ", when(one.ended_at, moment)];
    const small = [joined([["began ", when(one.began_at, moment)], over])];
    const text = cut(one.message, mostCharacters);
    const badge = over === false ? (["bad", "open"] as const) : (["plain", "over"] as const);
    return { name: one.kind, about: one.subject, small, text, badge };
  });
  const list = rowList([...undelivered, ...incidents], "No incident.");
  const aside = open.length === 0 ? null : `${open.length} open`;
  return pagePart("alerts", "Alerts", [list, diskNote(facts)], aside);
}

function diskNote({ view: { fileBytes }, status: { health } }: CompanyPageFacts): Html | null {
  if (!health) return null;
  const { database_bytes: database, wal_bytes: log } = health.sizes;
  const used = `${formatSize(database)}, write-ahead log ${formatSize(log)}`;
  return note("Disk", joined([used, fileBytes && `${freeText(fileBytes.diskFree)} free`]));
}

/** Whole gigabytes where there are many: every program of the machine changes the rest all the time. */
function freeText(bytes: number): string {
  return bytes < 10e9 ? formatSize(bytes) : `${formatCount(Math.floor(bytes / 1e9))} GB`;
}
