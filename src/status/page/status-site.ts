import type { Clock } from "../../base/clock.ts";
import type { Config } from "../../config/config.ts";
import { createKeptPages } from "../../server/kept-pages.ts";
import type { Page } from "../../server/response.ts";
import type { Site } from "../../server/site.ts";
import type { CompanyStatusView } from "../company-view.ts";
import { companyBody } from "./company-page.ts";
import type { Documents } from "./document.ts";
import { createGuardedSite, searchedText } from "./guarded-site.ts";
import { readPageFacts, searchMirror, whyUnreadable, type PageCompany } from "./page-facts.ts";
import type { PageMoment } from "./moments.ts";
import type { PageAccess } from "./page-access.ts";
import { overviewBody, overviewPath } from "./overview.ts";
import { searchBody } from "./history-parts.ts";

interface SiteSource {
  readonly config: Pick<Config, "companies" | "schedule">;
  pageOf(company: string): PageCompany | null;
  recentViews(): Promise<readonly CompanyStatusView[]>;
}

const companyPath = /^\/companies\/([a-zA-Z0-9_-]{1,64})(\/changes)?$/;
const isPage = (path: string) => path === "/" || companyPath.test(path);
/** What this process has computed so far, ms: unlike the time it took, a busy machine does not change it. */
const costMs = () => (process.cpuUsage().user + process.cpuUsage().system) / 1_000;
/** A page is made again after so many times what making it computes: looking takes little of the one thread there is. */
const keptFor = { factor: 200, shortestMs: 2_000, longestMs: 5 * 60_000, costMs };

/** The pages for people. They send no request to the service, and write nothing. */
export function createStatusSite(
  version: string,
  access: PageAccess,
  clock: Clock,
  source: SiteSource,
): Site {
  const kept = createKeptPages<Page>(clock, keptFor);
  return createGuardedSite(version, access, isPage, ({ path, query }, documents) => {
    const { companies, schedule } = source.config;
    const momentNow = () => ({ nowMs: clock.nowMs(), timeZone: schedule.timezone });
    const [, named, isSearch] = companyPath.exec(path) ?? [];
    const [only, another] = companies;
    const company = named ?? (another === undefined ? only?.name : undefined);
    if (company === undefined) {
      const page = Math.min(1_000, Math.max(1, Math.floor(Number(query.get("page") ?? 1)) || 1));
      const asked = { text: searchedText(query), page };
      return kept(overviewPath(asked), async () => {
        const body = overviewBody(await source.recentViews(), momentNow(), asked);
        return documents.page({ title: "All companies", body, isLive: true });
      });
    }
    const found = source.pageOf(company);
    if (!found)
      return documents.plainPage(404, "There is no such company", "The config names no company like that.");
    const place = `/companies/${company}`;
    const trail = [
      ...(another === undefined ? [] : [["All companies", "/"] as const]),
      [company, place] as const,
    ];
    if (isSearch !== undefined) return searchPage(company, found, query, momentNow(), trail, documents);
    return kept(company, () => {
      const body = companyBody(readPageFacts(found, momentNow()));
      return documents.page({ title: company, body, trail, isLive: true });
    });
  });
}

async function searchPage(
  company: string,
  page: PageCompany,
  query: URLSearchParams,
  moment: PageMoment,
  trail: readonly (readonly [string, string])[],
  documents: Documents,
): Promise<Page> {
  const before = Number(query.get("before") ?? Number.NaN);
  const resources = Object.keys(page.view().sweptMs);
  const question = {
    text: searchedText(query),
    resource: resources.find((name) => name === query.get("resource")) ?? null,
    beforeSeq: Number.isSafeInteger(before) ? before : null,
  };
  const found = await searchMirror(page, question).catch(whyUnreadable);
  if (typeof found === "string") return documents.plainPage(503, "The mirror's file cannot be read", found);
  const body = searchBody(company, question, found, resources, moment);
  const here = ["Changes", `/companies/${company}/changes`] as const;
  return documents.page({ title: `Changes of ${company}`, body, trail: [...trail, here] });
}
