import { formatCount } from "../../base/units.ts";
import type { ChangeQuestion, FoundChanges } from "./facts/changes/change-search.ts";
import type { Moment } from "./markup/moments.ts";
import { cut, html, type Html } from "./markup/html.ts";
import { counted, emptyText, type Part } from "./markup/page-part.ts";
import type { CompanyPageFacts } from "./facts/company-facts.ts";
import { budgetPlot } from "./sections/budget-plot.ts";
import { changeForm, changeLines, changeList } from "./sections/change-list.ts";
import { eventList } from "./sections/event-list.ts";
import { freshness } from "./sections/freshness.ts";
import { outputs } from "./sections/outputs.ts";
import { problemList } from "./sections/problem-list.ts";
import { alertList, proof } from "./sections/proof.ts";
import { queueLanes } from "./sections/queue-lanes.ts";
import { runTimeline } from "./sections/run-timeline.ts";
import { attention, runProgress, verdict } from "./sections/verdict.ts";

/** Every part of a company's page, in the order of reading. Pure. */
export function companyParts(facts: CompanyPageFacts): Part[] {
  const parts = [verdict, attention, runProgress, budgetPlot, queueLanes, runTimeline, freshness];
  return [...parts, eventList, changeList, problemList, outputs, proof, alertList].map((part) => part(facts));
}

/** The body of a company's page. `rest` is not live: what is typed there stays. */
export function companyBody(company: string, parts: readonly Part[], resources: readonly string[]): Html {
  const at = (...ids: readonly string[]) =>
    parts.filter(({ id }) => ids.includes(id)).map(({ body }) => body);
  return html`${at("verdict", "attention", "progress")}
    <div class="columns">
      <div>
        ${at("budget", "queue", "runs")}
        <div class="with-form">${at("changes")}${changeForm(company, resources)}</div>
        ${at("events")}
      </div>
      <div>${at("freshness", "proof", "outputs", "problems", "alerts")}</div>
    </div>`;
}

/** What was found, and for which question. */
export interface SearchFacts {
  readonly company: string;
  readonly question: ChangeQuestion;
  readonly found: FoundChanges;
  readonly resources: readonly string[];
  readonly moment: Moment;
}

/** The page of a search in the change log. Pure. */
export function searchPageBody({ company, question, found, resources, moment }: SearchFacts): Html {
  const { lines, nextSeq, searched } = found;
  const older = new URLSearchParams({
    ...(question.text !== "" && { q: question.text }),
    ...(question.resource !== null && { resource: question.resource }),
    before: String(nextSeq ?? 0),
  });
  const about = question.text === "" ? "" : ` with “${cut(question.text)}”`;
  const summary = `${counted(lines.length, "change")}${about}, ${formatCount(searched)} looked at${nextSeq === null ? "" : ", older ones were not"}.`;
  return html`<section class="card" aria-labelledby="title">
    <div class="head"><h1 id="title">Changes of ${company}</h1></div>
    ${changeForm(company, resources, question)}
    <p class="plan" role="status">${summary}</p>
    ${lines.length === 0 ? emptyText("Nothing was found.") : changeLines(lines, moment)}
    ${nextSeq !== null && html`<nav class="pager" aria-label="Pages"><a rel="next" href="/companies/${company}/changes?${older.toString()}">Search older changes</a></nav>`}
  </section>`;
}
