import type { Lane } from "../../base/lane.ts";
import { dayMs, minuteMs } from "../../base/clock.ts";
import { counted, formatCount, formatDuration } from "../../base/units.ts";
import { etaMs } from "../../log/progress.ts";
import type { SpentMinute } from "../../rate-limit/permit.ts";
import type { RunRow } from "../../state/runs.ts";
import { readyItems } from "../../state/work-item.ts";
import type { RunSummary } from "../../sync/context/run-summary.ts";
import { scrubText } from "../../sync/plan/estimate.ts";
import type { CompanyPageFacts } from "./page-facts.ts";
import { cut, html, type Html } from "./html.ts";
import { atClock, roughly, when, type PageMoment } from "./moments.ts";
import {
  advice,
  bar,
  barList,
  emptyText,
  hiddenPart,
  joined,
  note,
  pagePart,
  rowList,
  table,
  type ListRow,
  type Tone,
} from "./page-part.ts";

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

function plot(spent: readonly SpentMinute[], limit: number | null, { nowMs }: PageMoment, total: number) {
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
  const line = (at: number, name: string) =>
    html`<line class="${name}" x2="${width}" y1="${at}" y2="${at}" />`;
  return html`<figure class="plot">
    <div class="scale" aria-hidden="true"><span>${formatCount(most)} a minute</span></div>
    <svg height="112" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" aria-hidden="true">
      ${limit !== null && line(y(limit), "limit")}${columns}${line(height, "base")}
    </svg>
    <div class="scale" aria-hidden="true"><span>1 h ago</span><span>30 min</span><span>now</span></div>
    <figcaption>${summary}</figcaption>
  </figure>`;
}

function minuteTable(spent: readonly SpentMinute[], moment: PageMoment): Html {
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

const laneNames: Readonly<Record<Lane, string>> = {
  webhook: "events",
  list: "lists",
  changed: "changed records",
  hydration: "missing details",
  scrub: "scrub",
  files: "files",
  quick: "quick run",
};

/** What waits to be read by lane, in the order in which lanes are served, and the plan of the scrub. */
export function queueLanes({ status: { health, plan } }: CompanyPageFacts): Html {
  const counts = health?.lanes ?? [];
  const ready = readyItems(counts);
  const most = Math.max(1, ...counts.map(({ count }) => count));
  const lanes = [...Map.groupBy(counts, ({ lane }) => lane)].map(([lane, some]) => {
    const of = (wanted: string) => some.find(({ state }) => state === wanted)?.count ?? 0;
    const others = joined([
      of("dead") > 0 && `${formatCount(of("dead"))} set aside`,
      of("held") > 0 && `${formatCount(of("held"))} held`,
    ]);
    return [
      laneNames[lane],
      of("ready") / most,
      [formatCount(of("ready")), html` <span>${others}</span>`],
    ] as const;
  });
  const queue = lanes.length === 0 ? emptyText("Nothing waits.") : barList(lanes);
  const aside = ready === 0 ? null : `${counted(ready, "request")} to be made`;
  return pagePart("queue", "Queue", [queue, plan && note("Scrub", scrubText(plan.scrub))], aside);
}

const mostActive = 6;

/** The run under way. Hidden where there is none. */
export function runProgress({ progress, view }: CompanyPageFacts): Html {
  if (!progress || !view.run) return hiddenPart("progress");
  const { requests, queued, outage, resources } = progress;
  const eta = etaMs(progress);
  const total = requests + queued;
  const active = resources.filter(({ phase }) => phase === "listing" || phase === "reading");
  const rows = active.slice(0, mostActive).map(({ name, phase, done, total: all }) => {
    const known = all === null ? "" : ` of ${formatCount(all)}`;
    const text = `${formatCount(done)}${known} ${phase === "listing" ? "listed" : "read"}`;
    return [name, all ? done / all : 0, text] as const;
  });
  const left = eta === null ? "" : eta === 0 ? ", about to end" : `, about ${roughly(eta)} left`;
  const away = outage
    ? `The service is away (${cut(outage.error, 200)}): it is asked again in ${roughly(outage.next_try_ms)}.`
    : null;
  const whole = html`<div class="whole">${bar(total === 0 ? 0 : requests / total, "busy")}</div>`;
  return pagePart(
    "progress",
    `The ${view.run.mode} run under way`,
    [whole, away !== null && advice(away), barList(rows)],
    `${counted(requests, "request")} of ${formatCount(total)} known${left}`,
  );
}

const mostListed = 6;
const levels: Readonly<Record<string, Tone>> = {
  complete: "good",
  partial: "look",
  stopped: "plain",
  interrupted: "plain",
};

export function runTimeline(facts: CompanyPageFacts): Html {
  const { runs, moment, status } = facts;
  const failed = status.health?.failed_start ?? null;
  const why =
    failed &&
    html`<p class="next">A run ${when(failed.at, moment)} could not begin: ${cut(failed.message, 300)}</p>`;
  const rows = runs.slice(0, mostListed).map((run) => runRow(run, facts));
  const aside = runs.length > mostListed ? `the latest ${mostListed} of ${runs.length} shown above` : null;
  return pagePart("runs", "Runs", [why, strip(facts), rowList(rows, "No run was made yet.")], aside);
}

function strip(facts: CompanyPageFacts): Html | null {
  const { runs, moment } = facts;
  const oldest = runs.at(-1);
  if (!oldest) return null;
  const spanMs = Math.min(30 * dayMs, Math.max(dayMs, moment.nowMs - Date.parse(oldest.startedAt)));
  return html`<figure class="plot strip">
    <svg height="28" viewBox="0 0 ${width} 24" preserveAspectRatio="none" aria-hidden="true">
      <line class="base" x2="${width}" y1="12" y2="12" />
      ${runs.map((run) => mark(run, facts, spanMs))}
    </svg>
    <div class="scale" aria-hidden="true"><span>${roughly(spanMs)} ago</span><span>now</span></div>
  </figure>`;
}

function mark(run: RunRow, facts: CompanyPageFacts, spanMs: number): Html | null {
  const { nowMs } = facts.moment;
  const [level, word] = outcomeOf(run, facts);
  const startMs = Date.parse(run.startedAt);
  const endMs = word === "running" ? nowMs : Date.parse(run.finishedAt ?? run.startedAt);
  if (endMs < nowMs - spanMs) return null;
  const scale = (ms: number) => (ms / spanMs) * width;
  const long = Math.max(5, scale(endMs - startMs));
  const left = Math.min(width - long, Math.max(0, width - scale(nowMs - startMs)));
  const [x, size] = [left.toFixed(1), long.toFixed(1)];
  return html`<rect class="run ${level}" x="${x}" y="2" width="${size}" height="20" rx="2" />`;
}

function outcomeOf({ id, outcome }: RunRow, { runs, view }: CompanyPageFacts): [Tone, string] {
  if (outcome !== null) return [levels[outcome] ?? "bad", outcome];
  return view.run !== null && runs[0]?.id === id ? ["busy", "running"] : ["plain", "cut off"];
}

function runRow(run: RunRow, facts: CompanyPageFacts): ListRow {
  const { startedAt, finishedAt, mode, id } = run;
  const { resources = {}, requests, error } = run.report as Partial<RunSummary>;
  const counts = Object.values(resources);
  const changes = counts.reduce((sum, one) => sum + one.inserted + one.updated + one.deleted, 0);
  const done = joined([
    finishedAt !== null && `took ${formatDuration(Date.parse(finishedAt) - Date.parse(startedAt))}`,
    requests !== undefined && counted(requests.total, "request"),
    finishedAt !== null && (changes === 0 ? "no change" : counted(changes, "change")),
  ]);
  return {
    name: `${mode === "incremental" ? "Run" : `${mode} run`} ${formatCount(id)}`,
    about: when(startedAt, facts.moment),
    small: error ? [done, cut(error.message, 200)] : [done],
    badge: outcomeOf(run, facts),
  };
}
