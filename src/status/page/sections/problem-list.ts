import { formatCount } from "../../../base/units.ts";
import { nameOfTarget } from "../../../state/work-item.ts";
import { cut, html } from "../markup/html.ts";
import { when } from "../markup/moments.ts";
import type { CompanyPageFacts } from "../facts/company-facts.ts";
import { emptyText, pagePart, type Part } from "../markup/page-part.ts";

const mostListed = 20;

/** Reads that were given up, and records that cannot become a row, each with its reason. */
export function problemList({ status, moment }: CompanyPageFacts): Part {
  const dead = status.health?.setAside ?? [];
  const quarantined = status.health?.quarantine ?? [];
  const count = dead.length + quarantined.length;
  const title = "Set aside and quarantine";
  if (count === 0)
    return pagePart("problems", title, emptyText("No read was given up, and every record is a row."));
  const items = [
    ...dead.map(
      (one) =>
        html`<li>
          <div>
            <strong>${one.resource.replaceAll("_", " ")}</strong> <span>${nameOfTarget(one.target)}</span>
            <small>set aside after ${String(one.attempts)} attempts until the next run</small>
            <p>${cut(one.reason, 300)}</p>
          </div>
        </li>`,
    ),
    ...quarantined.map(
      (one) =>
        html`<li>
          <div>
            <strong>${one.resource.replaceAll("_", " ")}</strong>
            <span>${one.recordId === null ? "without id" : String(one.recordId)}</span>
            <small>in quarantine since ${when(one.at, moment)}</small>
            <p>${cut(one.reason, 300)}</p>
          </div>
        </li>`,
    ),
  ];
  const more =
    count > mostListed
      ? emptyText(`and ${formatCount(count - mostListed)} more: \`fintoro-mirror status --json\` has all`)
      : null;
  return pagePart(
    "problems",
    title,
    [
      html`<ol class="rows">
        ${items.slice(0, mostListed)}
      </ol>`,
      more,
    ],
    formatCount(count),
  );
}
