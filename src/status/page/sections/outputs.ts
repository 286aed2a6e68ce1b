import { formatCount, formatDuration, formatSize } from "../../../base/units.ts";
import type { StepStatus } from "../../after-run-record.ts";
import { cut, html, type Html } from "../markup/html.ts";
import { when, type Moment } from "../markup/moments.ts";
import type { CompanyPageFacts } from "../facts/company-facts.ts";
import { badge, counted, emptyText, pagePart, type Part } from "../markup/page-part.ts";

/** Report, exports, backups and files: how each went last, and how old it is. */
export function outputs({ view, status, moment }: CompanyPageFacts): Part {
  const items = [...view.afterRun.steps.map((step) => item(step, moment)), ...filesOf(status.files)];
  const body =
    items.length === 0
      ? emptyText("The config asks for no report and no export.")
      : html`<ol class="rows">
          ${items}
        </ol>`;
  return pagePart("outputs", "Reports and exports", body);
}

function item(
  { step, outcome, at, duration_ms: tookMs, error, last_success_at: last }: StepStatus,
  moment: Moment,
): Html {
  if (outcome === null)
    return html`<li>
      <div><strong>${cut(step)}</strong> <small>not made yet</small></div>
      ${badge("plain", "waiting")}
    </li>`;
  const isFailed = outcome === "failed";
  const more = isFailed
    ? html`<p>${cut(error ?? "", 300)}</p>
        <small>last made ${when(last, moment)}</small>`
    : html`<small>took ${formatDuration(tookMs)}</small>`;
  return html`<li>
    <div><strong>${cut(step)}</strong> <span>${when(at, moment)}</span> ${more}</div>
    ${badge(isFailed ? "bad" : "good", outcome)}
  </li>`;
}

function filesOf(files: CompanyPageFacts["status"]["files"]): Html[] {
  if (!files || files.stored + files.pending + files.problems === 0) return [];
  const left = files.pending > 0 ? `${counted(files.pending, "record")} still to be fetched` : "all fetched";
  const wrong =
    files.problems > 0
      ? html`<small>${formatCount(files.problems)} records without a usable file</small>`
      : null;
  const level = files.problems > 0 ? "look" : "good";
  return [
    html`<li>
      <div>
        <strong>documents' files</strong>
        <span>${counted(files.stored, "file")}, ${formatSize(files.stored_bytes)}</span>
        <small>${left}</small>${wrong}
      </div>
      ${badge(level, files.pending > 0 ? "fetching" : "stored")}
    </li>`,
  ];
}
