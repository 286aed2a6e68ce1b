import type { Lane } from "../../../base/lane.ts";
import { formatCount } from "../../../base/units.ts";
import { etaMs } from "../../../log/progress-view.ts";
import { readyItems } from "../../../state/work-item.ts";
import { scrubText } from "../../../sync/plan/run-plan.ts";
import type { CompanyPageFacts } from "../facts/facts-reader.ts";
import { cut, html, type Html } from "../markup/html.ts";
import { roughly } from "../markup/moments.ts";
import { bar, barList, counted, emptyText, hiddenPart, advice, note, pagePart } from "../markup/page-part.ts";

const names: Readonly<Record<Lane, string>> = {
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
  const lanes = [...new Set(counts.map(({ lane }) => lane))].map((lane) => {
    const of = (wanted: string) =>
      counts.find((one) => one.lane === lane && one.state === wanted)?.count ?? 0;
    const [dead, held] = [of("dead"), of("held")];
    const others = [
      ...(dead > 0 ? [`${formatCount(dead)} set aside`] : []),
      ...(held > 0 ? [`${formatCount(held)} held`] : []),
    ].join(", ");
    const text = [formatCount(of("ready")), others !== "" && html` <span>${others}</span>`];
    return [names[lane], of("ready") / most, text] as const;
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
    ? `The service is away (${cut(outage.error, 200)}): it is asked again in ${roughly(outage.nextTryMs)}.`
    : null;
  const whole = html`<div class="whole">${bar(total === 0 ? 0 : requests / total, "busy")}</div>`;
  return pagePart(
    "progress",
    `The ${view.run.mode} run under way`,
    [whole, away !== null && advice(away), barList(rows)],
    `${counted(requests, "request")} of ${formatCount(total)} known${left}`,
  );
}
