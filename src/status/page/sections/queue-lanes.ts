import type { Lane } from "../../../base/lane.ts";
import { formatCount } from "../../../base/units.ts";
import { readyItems } from "../../../state/work-item.ts";
import { scrubText } from "../../../sync/plan/run-plan.ts";
import { html, type Html } from "../markup/html.ts";
import type { CompanyPageFacts } from "../facts/company-facts.ts";
import { bar, counted, emptyText, pagePart, type Part } from "../markup/page-part.ts";

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
export function queueLanes({ status }: CompanyPageFacts): Part {
  const counts = status.health?.lanes ?? [];
  const ready = readyItems(counts);
  const most = Math.max(1, ...counts.map(({ count }) => count));
  const inLanes = [...new Set(counts.map(({ lane }) => lane))];
  const rows = inLanes.map((lane): Html => {
    const of = (wanted: string) =>
      counts.find((one) => one.lane === lane && one.state === wanted)?.count ?? 0;
    const others = [
      ...(of("dead") > 0 ? [`${formatCount(of("dead"))} set aside`] : []),
      ...(of("held") > 0 ? [`${formatCount(of("held"))} held`] : []),
    ].join(", ");
    return html`<li>
      <span>${names[lane]}</span> ${bar(of("ready") / most, "busy")}
      <span class="number"
        >${formatCount(of("ready"))}${others !== "" && html` <small>${others}</small>`}</span
      >
    </li>`;
  });
  const queue =
    rows.length === 0
      ? emptyText("Nothing waits.")
      : html`<ul class="lanes">
          ${rows}
        </ul>`;
  const { plan } = status;
  const scrub = plan && html`<p class="plan"><strong>Scrub</strong> ${scrubText(plan.scrub)}</p>`;
  return pagePart(
    "queue",
    "Queue",
    [queue, scrub],
    ready === 0 ? null : `${counted(ready, "request")} to be made`,
  );
}
