import { formatCount, formatDuration } from "../../../base/units.ts";
import type { RunRow } from "../../../state/runs.ts";
import type { CompanyReport } from "../../../sync/context/run-report.ts";
import type { CompanyPageFacts } from "../facts/facts-reader.ts";
import { cut, html, type Html } from "../markup/html.ts";
import { roughly, when } from "../markup/moments.ts";
import { counted, joined, pagePart, rowList, type Tone, type Row } from "../markup/page-part.ts";

const dayMs = 86_400_000;
const mostListed = 6;
const width = 600;

const levels: Readonly<Record<string, Tone>> = {
  complete: "good",
  partial: "look",
  stopped: "plain",
  interrupted: "plain",
};

/** When runs were made, how long they took and how they ended. */
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

/** All runs as marks on a line of time. */
function strip(facts: CompanyPageFacts): Html | null {
  const { runs, moment } = facts;
  const oldest = runs.at(-1);
  if (!oldest) return null;
  const spanMs = Math.min(30 * dayMs, Math.max(dayMs, moment.nowMs - Date.parse(oldest.startedAt)));
  return html`<figure class="plot strip">
    <svg height="28" viewBox="0 0 ${width} 24" preserveAspectRatio="none" aria-hidden="true">
      <line class="base" x1="0" x2="${width}" y1="12" y2="12" vector-effect="non-scaling-stroke" />
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

function runRow(run: RunRow, facts: CompanyPageFacts): Row {
  const { startedAt, finishedAt, mode, id } = run;
  const { resources = {}, requests, error } = run.report as Partial<CompanyReport>;
  const changes = Object.values(resources).reduce(
    (sum, { inserted, updated, deleted }) => sum + inserted + updated + deleted,
    0,
  );
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
