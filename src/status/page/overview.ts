import { formatCount } from "../../base/units.ts";
import { readyItems } from "../../state/work-item.ts";
import type { CompanyStatusView } from "../company-status.ts";
import type { ReadyLimits } from "../conditions.ts";
import { companyLevel, shownConditions, type Level } from "./facts/headline.ts";
import { cut, html, type Html } from "./markup/html.ts";
import { clockText, when, type Moment } from "./markup/moments.ts";
import { badge, counted, emptyText, pagePart, table, type Part } from "./markup/page-part.ts";

/** Which companies are listed. */
export interface OverviewQuestion {
  /** Part of a name; "": all. */
  readonly text: string;
  /** From 1. */
  readonly page: number;
}

export interface OverviewFacts {
  readonly views: readonly CompanyStatusView[];
  readonly moment: Moment;
  readonly limits: ReadyLimits;
}

const perPage = 50;
const order: readonly Level[] = ["bad", "look", "busy", "good"];
const words: Readonly<Record<Level, string>> = {
  bad: "wrong",
  look: "look",
  busy: "first run",
  good: "fresh",
};

/** The companies, the worst first. Pure. */
export function overviewParts(facts: OverviewFacts, { text, page }: OverviewQuestion): Part[] {
  const { moment, limits, views } = facts;
  const all = views.map((view) => ({ view, level: companyLevel(view, moment.nowMs, limits) }));
  const found = all.filter(({ view }) => view.company.toLowerCase().includes(text.toLowerCase()));
  const sorted = found.toSorted(
    (a, b) => order.indexOf(a.level) - order.indexOf(b.level) || a.view.company.localeCompare(b.view.company),
  );
  const pages = Math.max(1, Math.ceil(sorted.length / perPage));
  const current = Math.min(Math.max(1, page), pages);
  const rows = sorted
    .slice((current - 1) * perPage, current * perPage)
    .map((one) => row(one.view, one.level, facts));
  const heads = ["Company", "State", "Read whole", "Waiting", "Last event", "Next run"];
  const list =
    rows.length === 0
      ? emptyText(
          text === "" ? "The config names no company." : html`No company has “${cut(text)}” in its name.`,
        )
      : html`<div class="companies">${table("Companies, the worst first", heads, rows)}</div>`;
  const range = `${formatCount(sorted.length === 0 ? 0 : (current - 1) * perPage + 1)} to ${formatCount(Math.min(sorted.length, current * perPage))} of ${formatCount(sorted.length)}`;
  const body = [list, pages > 1 && pager(text, current, pages)];
  return [
    summary(
      all.map(({ level }) => level),
      facts,
    ),
    pagePart("companies", "Companies", body, range),
  ];
}

function summary(levels: readonly Level[], { views, moment }: OverviewFacts): Part {
  const count = (level: Level) => levels.filter((one) => one === level).length;
  const worst = order.find((level) => count(level) > 0) ?? "busy";
  const many = counted(levels.length, "company", "companies");
  const swept = views.flatMap(({ sweptMs }) => Object.values(sweptMs)).filter((ms) => ms !== null);
  const sentences: Readonly<Record<Level, string>> = {
    bad: `${formatCount(count("bad"))} of ${many} ${count("bad") === 1 ? "is" : "are"} not current`,
    look: `All are current, ${formatCount(count("look"))} of ${many} ${count("look") === 1 ? "needs" : "need"} a look`,
    busy:
      levels.length === 0
        ? "There is no company yet"
        : `${formatCount(count("busy"))} of ${many} ${count("busy") === 1 ? "is" : "are"} being read for the first time`,
    good: `All ${many} are fresh as of ${clockText(Math.min(moment.nowMs, ...swept), moment)}`,
  };
  const numbers = order.map(
    (level) =>
      html`<div>
        <dt>${words[level]}</dt>
        <dd><strong>${formatCount(count(level))}</strong></dd>
      </div>`,
  );
  const body = html`<section id="verdict" class="verdict ${worst}" aria-labelledby="title">
    <h1 id="title">All companies</h1>
    <p class="sentence" role="status">${sentences[worst]}</p>
    <dl class="facts">${numbers}</dl>
  </section>`;
  return { id: "verdict", body };
}

function row(view: CompanyStatusView, level: Level, { moment, limits }: OverviewFacts): Html {
  const [first] = shownConditions(view, moment.nowMs, limits);
  const times = Object.values(view.sweptMs);
  const oldest =
    times.some((ms) => ms === null) || times.length === 0 ? null : Math.min(...times.map(Number));
  const why = first && html`<small>${cut(first.message, 160)}</small>`;
  return html`<tr>
    <th scope="row"><a href="/companies/${view.company}">${view.company}</a></th>
    <td>${badge(level, words[level])}${why ?? null}</td>
    <td>${when(oldest, moment)}</td>
    <td class="number">${formatCount(readyItems(view.queue))}</td>
    <td>${when(view.events.lastReceivedMs, moment)}</td>
    <td>${view.nextRunMs === null ? "–" : when(view.nextRunMs, moment)}</td>
  </tr>`;
}

function pager(text: string, current: number, pages: number): Html {
  const link = (page: number, name: string, rel: string) =>
    page >= 1 && page <= pages && html`<a rel="${rel}" href="${overviewPath({ text, page })}">${name}</a>`;
  return html`<nav class="pager" aria-label="Pages">
    ${link(current - 1, "Previous", "prev")}
    <span>Page ${current} of ${pages}</span> ${link(current + 1, "Next", "next")}
  </nav>`;
}

/** The address of a page of the overview. */
export function overviewPath({ text, page }: OverviewQuestion): string {
  const query = new URLSearchParams({
    ...(text !== "" && { q: text }),
    ...(page > 1 && { page: String(page) }),
  });
  return query.size === 0 ? "/" : `/?${query.toString()}`;
}

/** The form that finds a company by its name: works without a script. */
export function overviewForm(text: string): Html {
  return html`<form class="search" role="search" method="get" action="/">
    <label
      >Find a company <input type="search" name="q" value="${text}" maxlength="64" autocomplete="off"
    /></label>
    <button>Find</button>
  </form>`;
}
