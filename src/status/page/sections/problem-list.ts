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
  const problems = [
    ...dead.slice(0, mostListed).map((one) => ({
      ...one,
      name: nameOfTarget(one.target),
      since: `set aside after ${one.attempts} attempts until the next run`,
    })),
    ...quarantined.slice(0, mostListed).map((one) => ({
      ...one,
      name: one.recordId === null ? "without id" : String(one.recordId),
      since: html`in quarantine since ${when(one.at, moment)}`,
    })),
  ];
  const items = problems.slice(0, mostListed).map(
    ({ resource, name, since, reason }) =>
      html`<li>
        <div>
          <strong>${resource.replaceAll("_", " ")}</strong> <span>${name}</span>
          <small>${since}</small>
          <p>${cut(reason, 300)}</p>
        </div>
      </li>`,
  );
  const more =
    count > mostListed
      ? emptyText(
          html`and ${formatCount(count - mostListed)} more: <code>fintoro-mirror status --json</code> has all`,
        )
      : null;
  return pagePart(
    "problems",
    title,
    [
      html`<ol class="rows">
        ${items}
      </ol>`,
      more,
    ],
    formatCount(count),
  );
}
