import { formatCount } from "../../../base/units.ts";
import { etaMs } from "../../../log/progress-view.ts";
import { readyItems } from "../../../state/work-item.ts";
import { headlineOf, isSaidOnTop, shownConditions } from "../facts/headline.ts";
import { cut, html, type Html, type Piece } from "../markup/html.ts";
import { roughly, when } from "../markup/moments.ts";
import { remedyFor } from "../facts/remedies.ts";
import type { CompanyPageFacts } from "../facts/company-facts.ts";
import { badge, bar, counted, pagePart, type Part } from "../markup/page-part.ts";

/** What stands between backquotes becomes code. */
function prose(text: string): Piece {
  return text.split("`").map((part, i) => (i % 2 === 0 ? part : html`<code>${part}</code>`));
}

/** The sentence on top, and the five numbers that people ask for first. */
export function verdict(facts: CompanyPageFacts): Part {
  const { company } = facts;
  const { level, sentence, next } = headlineOf(facts);
  const body = html`<section id="verdict" class="verdict ${level}" aria-labelledby="title">
    <h1 id="title">${company}</h1>
    <p class="sentence" role="status">${prose(sentence)}</p>
    ${next !== null && html`<p class="next">${prose(next)}</p>`}
    <dl class="facts">${factsOf(facts)}</dl>
  </section>`;
  return { id: "verdict", body };
}

function factsOf({ status, view, moment }: CompanyPageFacts): Html[] {
  const resources = status.health?.resources ?? [];
  const live = resources.reduce((sum, one) => sum + one.live, 0);
  const missing = resources.reduce((sum, one) => sum + one.provisional, 0);
  const waiting = readyItems(view.queue);
  const details = missing === 0 ? "all with their detail" : `${formatCount(missing)} without their detail`;
  const { run, nextRunMs, lastRun, budget, events } = view;
  return [
    fact("Records", formatCount(live), live === 0 ? "none yet" : details),
    fact(
      "Run",
      run ? "under way" : (lastRun?.outcome ?? "none yet"),
      run ? html`since ${when(run.startedMs, moment)}` : lastRun ? when(lastRun.finishedMs, moment) : null,
    ),
    fact("Next run", nextRunMs === null ? "not scheduled" : when(nextRunMs, moment), null),
    fact("Waiting", formatCount(waiting), waiting === 1 ? "request" : "requests"),
    fact(
      "Budget left",
      budget?.remaining === null || !budget ? "not known" : formatCount(budget.remaining),
      budget?.limit ? `of ${formatCount(budget.limit)} in this window` : null,
    ),
    fact("Last event", when(events.lastReceivedMs, moment), `${formatCount(events.waiting)} waiting`),
  ];
}

function fact(name: string, value: Piece, more: Piece): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd><strong>${value}</strong>${more !== null && html` <span>${more}</span>`}</dd>
  </div>`;
}

/** What is wrong, each with what to do. Hidden where nothing is, or the sentence on top says it. */
export function attention({ view, moment, limits }: CompanyPageFacts): Part {
  const shown = shownConditions(view, moment.nowMs, limits);
  if (shown.length === 0 || isSaidOnTop(shown))
    return { id: "attention", body: html`<section id="attention" hidden></section>` };
  const items = shown.map(
    (one) =>
      html`<li>
        ${one.blocks ? badge("bad", "wrong") : badge("look", "look")}
        <div>
          <p>${cut(one.message, 600)}</p>
          <p class="next">${prose(remedyFor(one))}</p>
        </div>
      </li>`,
  );
  return pagePart(
    "attention",
    "What needs a look",
    html`<ul class="problems">
      ${items}
    </ul>`,
  );
}

/** The run under way. Hidden where there is none. */
export function runProgress({ progress, view }: CompanyPageFacts): Part {
  if (!progress || !view.run) return { id: "progress", body: html`<section id="progress" hidden></section>` };
  const eta = etaMs(progress);
  const total = progress.requests + progress.queued;
  const active = progress.resources.filter(({ phase }) => phase === "listing" || phase === "reading");
  const rows = active.slice(0, 6).map(
    ({ name, phase, done, total: all }) =>
      html`<li>
        <span>${name}</span> ${bar(all ? done / all : 0, "busy")}
        <span class="number"
          >${formatCount(done)}${all !== null && ` of ${formatCount(all)}`}
          ${phase === "listing" ? "listed" : "read"}</span
        >
      </li>`,
  );
  const left = eta === null ? "" : eta === 0 ? ", about to end" : `, about ${roughly(eta)} left`;
  const aside = `${counted(progress.requests, "request")} of ${formatCount(total)} known${left}`;
  const away = progress.outage
    ? html`<p class="next">
        The service is away (${cut(progress.outage.error, 200)}): it is asked again in
        ${roughly(progress.outage.nextTryMs)}.
      </p>`
    : null;
  const whole = html`<div class="whole">${bar(total === 0 ? 0 : progress.requests / total, "busy")}</div>`;
  return pagePart(
    "progress",
    `The ${view.run.mode} run under way`,
    [
      whole,
      away,
      html`<ul class="lanes">
        ${rows}
      </ul>`,
    ],
    aside,
  );
}
