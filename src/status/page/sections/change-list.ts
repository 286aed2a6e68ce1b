import { formatCount } from "../../../base/units.ts";
import type { ChangeLine } from "../facts/changes/change-line.ts";
import { html, type Html } from "../markup/html.ts";
import { when, type Moment } from "../markup/moments.ts";
import type { CompanyPageFacts } from "../facts/company-facts.ts";
import { badge, emptyText, pagePart, type Part } from "../markup/page-part.ts";

const causes: Readonly<Record<string, string>> = {
  sweep: "from a list",
  hydrate: "from its detail",
  webhook: "after an event",
  confirm: "confirmed",
  repair: "repaired",
  schema: "derived again",
};

const levels = { insert: "good", update: "busy", delete: "bad" } as const;

/** The latest changes. The form that searches them stands beside, so that what is typed there stays. */
export function changeList({ changes, moment }: CompanyPageFacts): Part {
  return pagePart(
    "changes",
    "Changes",
    changes.length === 0 ? emptyText("Nothing changed yet.") : changeLines(changes, moment),
  );
}

/** Changes as a list. */
export function changeLines(lines: readonly ChangeLine[], moment: Moment): Html {
  return html`<ol class="rows">
    ${lines.map((line) => item(line, moment))}
  </ol>`;
}

function item(line: ChangeLine, moment: Moment): Html {
  const { resource, recordId, op, at, cause, label, fields, moreFields } = line;
  const level = op in levels ? levels[op as keyof typeof levels] : "plain";
  const diffs = fields.map(
    ({ name, before, after }) =>
      html`<li>
        <code>${name}</code>
        ${before === null && after === null ? "changed" : html`<del>${before ?? "–"}</del> <span aria-hidden="true">→</span> <ins>${after ?? "–"}</ins>`}
      </li>`,
  );
  const more = moreFields > 0 ? html`<li>and ${formatCount(moreFields)} more</li>` : null;
  return html`<li>
    <div>
      <strong>${resource.replaceAll("_", " ")} ${String(recordId)}</strong
      >${label !== null && html` <span>${label}</span>`}
      <small>${when(at, moment)} · ${causes[cause] ?? cause} · no. ${formatCount(line.seq)}</small>
      ${
        diffs.length > 0 &&
        html`<ul class="diff">
          ${diffs}${more}
        </ul>`
      }
    </div>
    ${badge(level, op)}
  </li>`;
}

/** The form that searches changes: works without a script. */
export function changeForm(
  company: string,
  resources: readonly string[],
  given: { readonly text: string; readonly resource: string | null } = { text: "", resource: null },
): Html {
  const options = resources.map(
    (name) =>
      html`<option value="${name}" ${name === given.resource && html` selected`}>
        ${name.replaceAll("_", " ")}
      </option>`,
  );
  return html`<form class="search" role="search" method="get" action="/companies/${company}/changes">
    <label
      >Search changes
      <input
        type="search"
        name="q"
        value="${given.text}"
        maxlength="100"
        placeholder="number, name, id"
        autocomplete="off"
    /></label>
    <label
      >in
      <select name="resource">
        <option value="">all resources</option>
        ${options}
      </select></label
    >
    <button>Search</button>
  </form>`;
}
