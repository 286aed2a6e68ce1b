import { elapsedSince } from "../../../base/clock.ts";
import { formatCount, formatDuration } from "../../../base/units.ts";
import { earliest } from "../../../state/sweeps.ts";
import type { ResourceHealth } from "../../mirror-health.ts";
import type { CompanyPageFacts } from "../facts/facts-reader.ts";
import { isFirstRun } from "../facts/headline.ts";
import { html, type Html } from "../markup/html.ts";
import { roughly, when } from "../markup/moments.ts";
import { bar, emptyText, pagePart, table } from "../markup/page-part.ts";

/** How old each resource's list is against the promise, and how much of it is here. */
export function freshness(facts: CompanyPageFacts): Html {
  const { status, view, limits } = facts;
  const all = status.health?.resources ?? [];
  const rows = all
    .filter(({ name }) => !view.open || Object.hasOwn(view.sweptMs, name))
    .map((one) => row(one, facts));
  if (rows.length === 0) {
    const none = emptyText("Nothing was mirrored yet. The first run lists everything.");
    return pagePart("freshness", "Freshness", none);
  }
  const caption = "Records of each resource, and when its list was last read whole";
  const body = table(caption, ["Resource", "Records", "Read whole"], rows);
  const promise = formatDuration(limits.freshForMs).replace(/ 00m$/, "");
  return pagePart("freshness", "Freshness", body, `promise: read whole within ${promise}`);
}

function row(one: ResourceHealth, { view, moment, limits }: CompanyPageFacts): Html {
  const { name, live, expected, sweptAt } = one;
  const ageMs = sweptAt === null ? Infinity : elapsedSince(Date.parse(sweptAt), moment.nowMs);
  const isLate = ageMs > limits.freshForMs && !isFirstRun(view);
  const isPart = expected !== null && live < expected;
  const left = isLate
    ? html`<strong class="late bad">late</strong>`
    : bar(1 - ageMs / limits.freshForMs, "good");
  const details = detailsOf(one, moment.nowMs);
  return html`<tr>
    <th scope="row">${name.replaceAll("_", " ")}${details !== "" && html`<small>${details}</small>`}</th>
    <td class="number">${formatCount(live)}${isPart && html` <span>of ${formatCount(expected)}</span>`}</td>
    <td class="age">
      <div><span>${sweptAt === null ? "not yet" : when(sweptAt, moment)}</span>${left}</div>
    </td>
  </tr>`;
}

function detailsOf(one: ResourceHealth, nowMs: number): string {
  const { provisional, deleted, parents_never_read: unread } = one;
  const stalest = earliest([one.oldest_detail_at, one.oldest_parent_at].filter((at) => at !== null));
  return [
    ...(provisional > 0 ? [`${formatCount(provisional)} without detail`] : []),
    ...(unread > 0 ? [`lists of ${formatCount(unread)} parents never read`] : []),
    ...(stalest === null ? [] : [`stalest detail ${roughly(nowMs - Date.parse(stalest))} ago`]),
    ...(deleted > 0 ? [`${formatCount(deleted)} deleted`] : []),
  ].join(" · ");
}
