import { formatCount, formatDuration } from "../../../base/units.ts";
import type { RunRow } from "../../../state/runs.ts";
import type { CompanyReport } from "../../../sync/context/run-report.ts";
import { cut, html, type Html } from "../markup/html.ts";
import { roughly, when } from "../markup/moments.ts";
import type { CompanyPageFacts } from "../facts/company-facts.ts";
import { badge, counted, emptyText, pagePart, type Part } from "../markup/page-part.ts";

const dayMs = 86_400_000;
const mostListed = 6;
const width = 600;

type RunLevel = Parameters<typeof badge>[0];

const levels: Readonly<Record<string, RunLevel>> = {
  complete: "good",
  partial: "look",
  stopped: "plain",
  interrupted: "plain",
};

/** When runs were made, how long they took and how they ended. */
export function runTimeline(facts: CompanyPageFacts): Part {
  const { runs, moment, status } = facts;
  const [oldest] = runs.toReversed();
  const failed = status.health?.failed_start ?? null;
  const could =
    failed &&
    html`<p class="next">A run ${when(failed.at, moment)} could not begin: ${cut(failed.message, 300)}</p>`;
  if (!oldest) return pagePart("runs", "Runs", [could, emptyText("No run was made yet.")]);
  const spanMs = Math.min(30 * dayMs, Math.max(dayMs, moment.nowMs - Date.parse(oldest.startedAt)));
  const marks = runs.map((run) => mark(run, facts, spanMs));
  const strip = html`<figure class="plot strip">
    <svg viewBox="0 0 ${width} 24" preserveAspectRatio="none" aria-hidden="true" focusable="false">
      <line class="base" x1="0" x2="${width}" y1="12" y2="12" />
      ${marks}
    </svg>
    <div class="scale" aria-hidden="true"><span>${roughly(spanMs)} ago</span><span>now</span></div>
  </figure>`;
  const items = runs.slice(0, mostListed).map((run) => item(run, facts));
  const aside = runs.length > mostListed ? `the latest ${mostListed} of ${runs.length} shown above` : null;
  return pagePart(
    "runs",
    "Runs",
    [
      could,
      strip,
      html`<ol class="rows">
        ${items}
      </ol>`,
    ],
    aside,
  );
}

function isRunning({ id, outcome }: RunRow, { runs, view }: CompanyPageFacts): boolean {
  return view.run !== null && outcome === null && runs[0]?.id === id;
}

function outcomeOf(
  run: RunRow,
  facts: CompanyPageFacts,
): { readonly level: RunLevel; readonly text: string } {
  if (run.outcome !== null) return { level: levels[run.outcome] ?? "bad", text: run.outcome };
  return isRunning(run, facts) ? { level: "busy", text: "running" } : { level: "plain", text: "cut off" };
}

function mark(run: RunRow, facts: CompanyPageFacts, spanMs: number): Html | null {
  const { nowMs } = facts.moment;
  const startMs = Date.parse(run.startedAt);
  const endMs =
    run.finishedAt === null ? (isRunning(run, facts) ? nowMs : startMs) : Date.parse(run.finishedAt);
  if (endMs < nowMs - spanMs) return null;
  const scale = (ms: number) => (ms / spanMs) * width;
  const long = Math.max(5, scale(endMs - startMs));
  const left = Math.min(width - long, Math.max(0, width - scale(nowMs - startMs)));
  const { level } = outcomeOf(run, facts);
  return html`<rect
    class="run ${level}"
    x="${left.toFixed(1)}"
    y="2"
    width="${long.toFixed(1)}"
    height="20"
    rx="2"
  />`;
}

function item(run: RunRow, facts: CompanyPageFacts): Html {
  const { level, text } = outcomeOf(run, facts);
  const report = run.report as Partial<CompanyReport>;
  const changes = Object.values(report.resources ?? {}).reduce(
    (sum, { inserted, updated, deleted }) => sum + inserted + updated + deleted,
    0,
  );
  const tookMs = run.finishedAt === null ? null : Date.parse(run.finishedAt) - Date.parse(run.startedAt);
  const done = [
    ...(tookMs === null ? [] : [`took ${formatDuration(tookMs)}`]),
    ...(report.requests ? [counted(report.requests.total, "request")] : []),
    ...(run.finishedAt === null ? [] : [changes === 0 ? "no change" : counted(changes, "change")]),
  ].join(" · ");
  const why = report.error ? html`<small>${cut(report.error.message, 200)}</small>` : null;
  return html`<li>
    <div>
      <strong>${run.mode === "incremental" ? "Run" : `${run.mode} run`} ${formatCount(run.id)}</strong>
      <span>${when(run.startedAt, facts.moment)}</span> <small>${done}</small>${why}
    </div>
    ${badge(level, text)}
  </li>`;
}
