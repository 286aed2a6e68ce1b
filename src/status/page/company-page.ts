import { formatCount } from "../../base/units.ts";
import { readyItems } from "../../state/work-item.ts";
import { remedyFor } from "../conditions.ts";
import type { CompanyPageFacts } from "./page-facts.ts";
import { headlineOf, isSaidOnTop, shownConditions } from "./headline.ts";
import { cut, html, type Html } from "./html.ts";
import { when } from "./moments.ts";
import { banner, factList, hiddenPart, advice, pagePart, prose, rowList, type ListRow } from "./page-part.ts";
import { changeForm, changeList, eventList } from "./history-parts.ts";
import { alertList, freshness, outputs, problemList, proof } from "./health-parts.ts";
import { budgetPlot, queueLanes, runProgress, runTimeline } from "./work-parts.ts";

/** The body of a company's page. Pure. */
export function companyBody(facts: CompanyPageFacts): Html {
  return html`${verdict(facts)}${attention(facts)}${runProgress(facts)}
    <div class="columns">
      <div>
        ${[budgetPlot(facts), queueLanes(facts), runTimeline(facts)]}
        <div class="with-form">
          ${[changeList(facts), changeForm(facts.company, Object.keys(facts.view.sweptMs))]}
        </div>
        ${eventList(facts)}
      </div>
      <div>${[freshness, problemList, outputs, proof, alertList].map((section) => section(facts))}</div>
    </div>`;
}

function verdict(facts: CompanyPageFacts): Html {
  const { status, view, moment, company } = facts;
  const { level, sentence, next } = headlineOf(facts);
  const resources = status.health?.resources ?? [];
  const live = resources.reduce((sum, one) => sum + one.live, 0);
  const missing = resources.reduce((sum, one) => sum + one.provisional, 0);
  const details = missing === 0 ? "all with their detail" : `${formatCount(missing)} without their detail`;
  const waiting = readyItems(view.queue);
  const { run, nextRunMs, lastRun, events } = view;
  const { remaining = null, limit = null } = view.budget ?? {};
  const began = run ? ["since ", when(run.startedMs, moment)] : lastRun && when(lastRun.finishedMs, moment);
  const numbers = factList([
    ["Records", formatCount(live), live === 0 ? "none yet" : details],
    ["Run", run ? "under way" : (lastRun?.outcome ?? "none yet"), began],
    ["Next run", nextRunMs === null ? "not scheduled" : when(nextRunMs, moment)],
    ["Waiting", formatCount(waiting), waiting === 1 ? "request" : "requests"],
    [
      "Budget left",
      remaining === null ? "not known" : formatCount(remaining),
      limit === null ? null : `of ${formatCount(limit)} in this window`,
    ],
    ["Last event", when(events.lastReceivedMs, moment), `${formatCount(events.waiting)} waiting`],
  ]);
  return banner(level, company, prose(sentence), [next !== null && advice(next), numbers]);
}

/** What is wrong, each with what to do. Hidden where nothing is, or the sentence on top says it. */
function attention({ view, moment }: CompanyPageFacts): Html {
  const shown = shownConditions(view, moment.nowMs);
  if (shown.length === 0 || isSaidOnTop(shown)) return hiddenPart("attention");
  const rows = shown.map((one): ListRow => {
    const text = cut(one.message, 600);
    return { text, more: advice(remedyFor(one)), badge: one.blocks ? ["bad", "wrong"] : ["look", "look"] };
  });
  return pagePart("attention", "What needs a look", rowList(rows));
}
