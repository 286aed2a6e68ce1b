import { formatCount } from "../../../base/units.ts";
import type { SpentMinute } from "../../../rate-limit/permit.ts";
import { html, type Html } from "../markup/html.ts";
import { atClock } from "../markup/moments.ts";
import type { CompanyPageFacts } from "../facts/company-facts.ts";
import { counted, emptyText, pagePart, table, type Part } from "../markup/page-part.ts";

const minuteMs = 60_000;
const minutes = 60;
const height = 100;

/** Requests by minute of the last hour against the limit, as a plot and as a table. */
export function budgetPlot(facts: CompanyPageFacts): Part {
  const { status, view, moment } = facts;
  const limit = view.budget?.limit ?? status.budget?.limit ?? null;
  const spent = status.budget_minutes;
  const total = spent.reduce((sum, { requests }) => sum + requests, 0);
  const refused = spent.reduce((sum, one) => sum + one.refused, 0);
  const title = "Request budget";
  if (total === 0)
    return pagePart("budget", title, emptyText("No request was sent in the last hour."), limitText(limit));
  const most = Math.max(limit ?? 0, ...spent.map(({ requests }) => requests));
  const busiest = Math.max(...spent.map(({ requests }) => requests));
  const summary = `${counted(total, "request")} in the last hour, ${formatCount(busiest)} in the busiest minute, ${refused === 0 ? "none refused" : `${counted(refused, "refusal")} (429)`}`;
  const plot = html`<figure class="plot">
    <div class="scale" aria-hidden="true"><span>${formatCount(most)} a minute</span></div>
    <svg
      viewBox="0 0 ${minutes * 10} ${height}"
      preserveAspectRatio="none"
      role="img"
      aria-label="${summary}"
    >
      ${limit !== null && html`<line class="limit" x1="0" x2="${minutes * 10}" y1="${y(limit, most)}" y2="${y(limit, most)}" />`}
      ${spent.map((one) => column(one, most, moment.nowMs))}
      <line class="base" x1="0" x2="${minutes * 10}" y1="${height}" y2="${height}" />
    </svg>
    <div class="scale" aria-hidden="true"><span>1 h ago</span><span>30 min</span><span>now</span></div>
    <figcaption>${summary}</figcaption>
  </figure>`;
  const rows = spent.toReversed().map(
    (one) =>
      html`<tr>
        <th scope="row">${atClock(Date.parse(one.at), moment)}</th>
        <td class="number">${one.requests}</td>
        <td class="number">${one.refused}</td>
      </tr>`,
  );
  const asTable = html`<details id="budget-table">
    <summary>As a table</summary>
    <div class="frame" tabindex="0" role="region" aria-label="Requests by minute">
      ${table("Requests by minute, the latest first", ["Minute", "Requests", "Refused"], rows)}
    </div>
  </details>`;
  return pagePart("budget", title, [plot, asTable], limitText(limit));
}

function limitText(limit: number | null): string {
  return limit === null ? "the limit is not known yet" : `limit ${formatCount(limit)} in a window`;
}

function y(requests: number, most: number): number {
  return Math.round((height - 4) * (1 - requests / most)) + 2;
}

function column({ at, requests, refused }: SpentMinute, most: number, nowMs: number): Html | null {
  const ago = Math.floor(nowMs / minuteMs) - Math.floor(Date.parse(at) / minuteMs);
  if (ago < 0 || ago >= minutes || requests === 0) return null;
  const top = y(requests, most);
  const left = (minutes - 1 - ago) * 10 + 1;
  return html`<rect
    class="${refused > 0 ? "column bad" : "column"}"
    x="${left}"
    y="${top}"
    width="8"
    height="${height - top}"
  />`;
}
