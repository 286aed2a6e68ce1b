import { formatCount, formatSize } from "../../../base/units.ts";
import { targetsLeft } from "../../alerts/incidents.ts";
import { cut, html, type Html } from "../markup/html.ts";
import { when } from "../markup/moments.ts";
import type { CompanyPageFacts } from "../facts/company-facts.ts";
import { badge, counted, emptyText, pagePart, type Part } from "../markup/page-part.ts";

/** What the last `verify` found. */
export function proof({ status: { verified }, moment }: CompanyPageFacts): Part {
  const title = "Proof";
  if (verified === null) {
    const hint = html`Never compared with the service. <code>fintoro-mirror verify</code> does.`;
    return pagePart("proof", title, emptyText(hint));
  }
  const { at, by, match, differences, uncompared, details_compared: some, details_total: all } = verified;
  const found = match
    ? "equal to the service"
    : differences > 0
      ? `${counted(differences, "record")} differ`
      : `${counted(uncompared, "thing")} could not be compared`;
  const body = html`<ol class="rows">
    <li>
      <div>
        <strong>${found}</strong> <span>${when(at, moment)}</span>
        <small
          >by ${cut(by)} · ${counted(verified.records_compared, "record")} and ${formatCount(some)} of
          ${formatCount(all)} details compared</small
        >
      </div>
      ${badge(match ? "good" : "look", match ? "proven" : "differs")}
    </li>
  </ol>`;
  return pagePart("proof", title, body);
}

/** Incidents and what is sent about them, and what the mirror takes on disk. */
export function alertList({ view, status, moment }: CompanyPageFacts): Part {
  const open = view.alerts.incidents.filter(({ ended_at: ended }) => ended === null);
  const past = view.alerts.incidents.filter(({ ended_at: ended }) => ended !== null);
  const undelivered = targetsLeft(view.alerts).map(
    ({ target, count, error }) =>
      html`<li>
        <div>
          <strong>${counted(count, "alert")} not delivered</strong>
          <span>to ${cut(target)}</span>${error !== null && html`<p>${cut(error, 300)}</p>`}
        </div>
        ${badge("look", "waiting")}
      </li>`,
  );
  const incidents = [...open, ...past].slice(0, 8).map(
    (one): Html =>
      html`<li>
        <div>
          <strong>${one.kind}</strong> <span>${one.subject}</span>
          <small
            >began
            ${when(one.began_at, moment)}${one.ended_at !== null && html` · over ${when(one.ended_at, moment)}`}</small
          >
          <p>${cut(one.message, 300)}</p>
        </div>
        ${one.ended_at === null ? badge("bad", "open") : badge("plain", "over")}
      </li>`,
  );
  const items = [...undelivered, ...incidents];
  const sizes = status.health?.sizes;
  const disk =
    sizes &&
    html`<p class="plan">
      <strong>Disk</strong> ${formatSize(sizes.database_bytes)}, write-ahead log
      ${formatSize(sizes.wal_bytes)}${view.fileBytes && html` · ${freeText(view.fileBytes.diskFree)} free`}
    </p>`;
  const body =
    items.length === 0
      ? emptyText("No incident.")
      : html`<ol class="rows">
          ${items}
        </ol>`;
  return pagePart("alerts", "Alerts", [body, disk ?? null], open.length === 0 ? null : `${open.length} open`);
}

/** Whole gigabytes where there are many: every program of the machine changes the rest all the time. */
function freeText(bytes: number): string {
  return bytes < 10e9 ? formatSize(bytes) : `${formatCount(Math.floor(bytes / 1e9))} GB`;
}
