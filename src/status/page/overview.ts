import { counted, formatCount } from "../../base/units.ts";
import { readyItems } from "../../state/work-item.ts";
import type { CompanyStatusView } from "../company-view.ts";
import { companyLevel, shownConditions, type Level } from "./headline.ts";
import { cut, html, type Html } from "./html.ts";
import { clockText, when, type PageMoment } from "./moments.ts";
import { badge, banner, companyForm, emptyText, factList, pagePart, table } from "./page-part.ts";

interface OverviewQuestion {
  /** Part of a name; "": all. */
  readonly text: string;
  /** From 1. */
  readonly page: number;
}

const perPage = 50;
const order: readonly Level[] = ["bad", "look", "busy", "good"];
const words: Readonly<Record<Level, string>> = {
  bad: "wrong",
  look: "look",
  busy: "first run",
  good: "fresh",
};

/** The body of the overview: the companies, the worst first. Pure. */
export function overviewBody(
  views: readonly CompanyStatusView[],
  moment: PageMoment,
  { text, page }: OverviewQuestion,
): Html {
  const all = views.map((view) => ({ view, level: companyLevel(view, moment.nowMs) }));
  const found = all
    .filter(({ view }) => view.company.toLowerCase().includes(text.toLowerCase()))
    .toSorted(
      (a, b) =>
        order.indexOf(a.level) - order.indexOf(b.level) || a.view.company.localeCompare(b.view.company),
    );
  const pages = Math.max(1, Math.ceil(found.length / perPage));
  const current = Math.min(Math.max(1, page), pages);
  const first = (current - 1) * perPage;
  const rows = found.slice(first, first + perPage).map(({ view, level }) => row(view, level, moment));
  const none = text === "" ? "The config names no company." : `No company has “${cut(text)}” in its name.`;
  const heads = ["Company", "State", "Read whole", "Waiting", "Last event", "Next run"];
  const companies = html`<div class="companies">${table("Companies, the worst first", heads, rows)}</div>`;
  const list = [rows.length === 0 ? emptyText(none) : companies, pages > 1 && pager(text, current, pages)];
  const range = [Math.min(first + 1, found.length), first + rows.length, found.length].map(formatCount);
  const levels = all.map(({ level }) => level);
  return html`${summary(levels, views, moment)}${companyForm({ text })}
  ${pagePart("companies", "Companies", list, `${range[0]} to ${range[1]} of ${range[2]}`)}`;
}

function summary(levels: readonly Level[], views: readonly CompanyStatusView[], moment: PageMoment): Html {
  const count = (level: Level) => levels.filter((one) => one === level).length;
  const some = (level: Level, one: string, many: string) =>
    `${formatCount(count(level))} of ${all} ${count(level) === 1 ? one : many}`;
  const worst = order.find((level) => count(level) > 0) ?? "busy";
  const all = counted(levels.length, "company", "companies");
  const swept = views.flatMap(({ sweptMs }) => Object.values(sweptMs)).filter((ms) => ms !== null);
  const sentences: Readonly<Record<Level, string>> = {
    bad: `${some("bad", "is", "are")} not current`,
    look: `All are current, ${some("look", "needs", "need")} a look`,
    busy: `${some("busy", "is", "are")} being read for the first time`,
    good: `All ${all} are fresh as of ${clockText(Math.min(moment.nowMs, ...swept), moment)}`,
  };
  const sentence = levels.length === 0 ? "There is no company yet" : sentences[worst];
  const numbers = order.map((level) => [words[level], formatCount(count(level))] as const);
  return banner(worst, "All companies", sentence, factList(numbers));
}

function row(view: CompanyStatusView, level: Level, moment: PageMoment): Html {
  const [first] = shownConditions(view, moment.nowMs);
  const times = Object.values(view.sweptMs);
  const isRead = times.length > 0 && times.every((ms) => ms !== null);
  return html`<tr>
    <th scope="row"><a href="/companies/${view.company}">${view.company}</a></th>
    <td>
      ${badge(level, words[level])}${first !== undefined && html`<small>${cut(first.message, 160)}</small>`}
    </td>
    <td>${when(isRead ? Math.min(...times.map(Number)) : null, moment)}</td>
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

export function overviewPath({ text, page }: OverviewQuestion): string {
  const query = new URLSearchParams({
    ...(text !== "" && { q: text }),
    ...(page > 1 && { page: String(page) }),
  });
  return query.size === 0 ? "/" : `/?${query.toString()}`;
}
