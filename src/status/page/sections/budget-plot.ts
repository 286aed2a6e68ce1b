import { formatCount } from "../../../base/units.ts";
import type { SpentMinute } from "../../../rate-limit/permit.ts";
import type { CompanyPageFacts } from "../facts/facts-reader.ts";
import { html, type Html } from "../markup/html.ts";
import { atClock, type Moment } from "../markup/moments.ts";
import { counted, emptyText, pagePart, table } from "../markup/page-part.ts";

const minuteMs = 60_000;
const minutes = 60;
/** Of the plot, in units of its own; a minute is ten of them wide. */
const [width, height] = [minutes * 10, 100];

/** Requests by minute of the last hour against the limit, as a plot and as a table. */
export function budgetPlot({ status, view, moment }: CompanyPageFacts): Html {
  const limit = view.budget?.limit ?? status.budget?.limit ?? null;
  const aside = limit === null ? "the limit is not known yet" : `limit ${formatCount(limit)} in a window`;
  const spent = status.budget_minutes;
  const total = spent.reduce((sum, { requests }) => sum + requests, 0);
  const none = emptyText("No request was sent in the last hour.");
  const body = total === 0 ? none : [plot(spent, limit, moment, total), minuteTable(spent, moment)];
  return pagePart("budget", "Request budget", body, aside);
}

function plot(spent: readonly SpentMinute[], limit: number | null, { nowMs }: Moment, total: number): Html {
  const refused = spent.reduce((sum, one) => sum + one.refused, 0);
  const busiest = Math.max(...spent.map(({ requests }) => requests));
  const most = Math.max(limit ?? 0, busiest);
  const refusals = refused === 0 ? "none refused" : `${counted(refused, "refusal")} (429)`;
  const summary = `${counted(total, "request")} in the last hour, ${formatCount(busiest)} in the busiest minute, ${refusals}`;
  const y = (requests: number) => Math.round((height - 4) * (1 - requests / most)) + 2;
  const columns = spent.map(({ at, requests, refused: isRefused }) => {
    const ago = Math.floor(nowMs / minuteMs) - Math.floor(Date.parse(at) / minuteMs);
    if (ago < 0 || ago >= minutes || requests === 0) return null;
    const [x, top, level] = [width - 10 * ago - 9, y(requests), isRefused > 0 ? "column bad" : "column busy"];
    return html`<rect class="${level}" x="${x}" y="${top}" width="8" height="${height - top}" />`;
  });
  const line = (at: number, name: string, dashes: string) =>
    html`<line
      class="${name}"
      x2="${width}"
      y1="${at}"
      y2="${at}"
      vector-effect="non-scaling-stroke"
      stroke-dasharray="${dashes}"
    />`;
  return html`<figure class="plot">
    <div class="scale" aria-hidden="true"><span>${formatCount(most)} a minute</span></div>
    <svg height="112" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" aria-hidden="true">
      ${limit !== null && line(y(limit), "limit", "4 4")}${columns}${line(height, "base", "none")}
    </svg>
    <div class="scale" aria-hidden="true"><span>1 h ago</span><span>30 min</span><span>now</span></div>
    <figcaption>${summary}</figcaption>
  </figure>`;
}

function minuteTable(spent: readonly SpentMinute[], moment: Moment): Html {
  const rows = spent.toReversed().map(
    (one) =>
      html`<tr>
        <th scope="row">${atClock(Date.parse(one.at), moment)}</th>
        <td class="number">${one.requests}</td>
        <td class="number">${one.refused}</td>
      </tr>`,
  );
  return html`<details id="budget-table">
    <summary>As a table</summary>
    <div class="frame" tabindex="0" role="region" aria-label="Requests by minute">
      ${table("Requests by minute, the latest first", ["Minute", "Requests", "Refused"], rows)}
    </div>
  </details>`;
}
