import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { counted, formatCount } from "../../base/units.ts";
import { createKeptPages } from "../../server/kept-pages.ts";
import type { Page } from "../../server/response.ts";
import type { Site } from "../../server/site.ts";
import { createGuardedSite, searchedText } from "../../status/page/guarded-site.ts";
import { html, type Html } from "../../status/page/html.ts";
import type { PageAccess } from "../../status/page/page-access.ts";
import { badge, banner, companyForm, emptyText, pagePart, table } from "../../status/page/page-part.ts";
import type { Postgres } from "../postgres/connection.ts";
import { readRadarPage } from "../postgres/tables/radar-view.ts";
import type { RadarCompany, RadarPage, RadarQuestion } from "../postgres/tables/radar-view.ts";
import { radarCells, radarHeads } from "./format-fleet-status.ts";

/** Looking takes a thirtieth of one of Postgres' cores at most, however many look at one page. */
const keptFor = { factor: 30, shortestMs: 2_000, longestMs: 5 * 60_000 };
/** Rows of a page; the rest is counted. */
const mostRows = 300;

const isPage = (path: string) => path === "/";

/**
 * The companies of the fleet for people, on every node: the same as `fleet status --radar`.
 *
 * @param postgresNow null: it has not been reached yet
 */
export function createRadarSite(
  version: string,
  access: PageAccess,
  clock: Clock,
  postgresNow: () => Postgres | null,
): Site {
  const kept = createKeptPages<Page>(clock, keptFor);
  return createGuardedSite(version, access, isPage, ({ query }, { page, plainPage }) => {
    const question = { text: searchedText(query), tag: searchedText(query, "tag") };
    return kept(JSON.stringify(question), async () => {
      const postgres = postgresNow();
      if (!postgres) return plainPage(503, "The node starts", "It has not reached Postgres yet.");
      const radar = await readRadarPage(postgres, question, mostRows).catch(messageOf);
      if (typeof radar === "string") return plainPage(503, "Postgres does not answer", radar);
      return page({ title: "The fleet", body: radarBody(radar, question), isLive: true });
    });
  });
}

function radarBody({ companies, found, needing }: RadarPage, question: RadarQuestion): Html {
  const need = needing === 1 ? "needs someone" : "need someone";
  const sentence = `${formatCount(needing)} of ${counted(found, "company", "companies")} ${need}`;
  const heads = ["Company", "State", ...radarHeads.slice(0, -1)];
  const rows = table("Companies, those first that need someone", heads, [...companies].map(rowOf));
  const list =
    companies.size === 0 ? emptyText("No company is like that.") : html`<div class="companies">${rows}</div>`;
  const left =
    found > companies.size ? `${formatCount(found - companies.size)} more: search by name or tag` : null;
  return html`${banner(needing > 0 ? "look" : "good", "The fleet", sentence)}${companyForm(question)}
  ${pagePart("companies", "Companies", list, left)}`;
}

function rowOf([name, company]: readonly [string, RadarCompany]): Html {
  const cells = radarCells(company);
  const { mirror, tags } = company;
  const state = mirror?.needs_someone === true ? badge("look", "look") : badge("good", "fine");
  const links = tags.map((tag) => html`<a href="/?tag=${encodeURIComponent(tag)}">${tag}</a> `);
  return html`<tr>
    <th scope="row">${name} <small>${links}</small></th>
    <td>${mirror === null ? badge("plain", "not read yet") : state} <small>${cells.at(-1) ?? ""}</small></td>
    ${cells.slice(0, -1).map((cell) => html`<td>${cell}</td>`)}
  </tr>`;
}
