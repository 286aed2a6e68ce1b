import { elapsedSince } from "../../../base/clock.ts";
import { formatCount, formatDuration } from "../../../base/units.ts";
import { earliest } from "../../../state/sweeps.ts";
import type { ResourceHealth } from "../../mirror-health.ts";
import { isFirstRun } from "../facts/headline.ts";
import { html, type Html } from "../markup/html.ts";
import { roughly, when } from "../markup/moments.ts";
import type { CompanyPageFacts } from "../facts/company-facts.ts";
import { bar, emptyText, pagePart, table, type Part } from "../markup/page-part.ts";

/** How old each resource's list is against the promise, and how much of it is here. */
export function freshness(facts: CompanyPageFacts): Part {
  const { status, view, limits } = facts;
  const asked = new Set(Object.keys(view.sweptMs));
  const resources = (status.health?.resources ?? []).filter(({ name }) => asked.has(name) || !view.open);
  if (resources.length === 0)
    return pagePart(
      "freshness",
      "Freshness",
      emptyText("Nothing was mirrored yet. The first run lists everything."),
    );
  const rows = resources.map((one) => row(one, facts));
  const heads = ["Resource", "Records", "Read whole"];
  const caption = "Records of each resource, and when its list was last read whole";
  const aside = `promise: read whole within ${formatDuration(limits.freshForMs).replace(/ 00m$/, "")}`;
  return pagePart("freshness", "Freshness", table(caption, heads, rows), aside);
}

function row(one: ResourceHealth, { view, moment, limits }: CompanyPageFacts): Html {
  const { name, live, expected, sweptAt } = one;
  const ageMs = sweptAt === null ? Infinity : elapsedSince(Date.parse(sweptAt), moment.nowMs);
  const isLate = ageMs > limits.freshForMs && !isFirstRun(view);
  const isPart = expected !== null && live < expected;
  const count = html`${formatCount(live)}${isPart && html` <small>of ${formatCount(expected)}</small>`}`;
  const age = sweptAt === null ? "not yet" : when(sweptAt, moment);
  const left = isLate ? html`<strong class="late">late</strong>` : bar(1 - ageMs / limits.freshForMs, "good");
  return html`<tr>
    <th scope="row">${name.replaceAll("_", " ")}${detailsOf(one, moment.nowMs)}</th>
    <td class="number">${count}</td>
    <td class="age">
      <div><span>${age}</span>${left}</div>
    </td>
  </tr>`;
}

function detailsOf(one: ResourceHealth, nowMs: number): Html | null {
  const { provisional, deleted, parents_never_read: unread } = one;
  const stalest = earliest([one.oldest_detail_at, one.oldest_parent_at].filter((at) => at !== null));
  const facts = [
    ...(provisional > 0 ? [`${formatCount(provisional)} without detail`] : []),
    ...(unread > 0 ? [`lists of ${formatCount(unread)} parents never read`] : []),
    ...(stalest === null ? [] : [`stalest detail ${roughly(nowMs - Date.parse(stalest))} ago`]),
    ...(deleted > 0 ? [`${formatCount(deleted)} deleted`] : []),
  ];
  return facts.length === 0 ? null : html`<small>${facts.join(" · ")}</small>`;
}
