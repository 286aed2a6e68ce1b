import type { Clock } from "../../base/clock.ts";
import type { Config } from "../../config/config.ts";
import type { Page } from "../../server/response.ts";
import type { SiteRequest } from "../../server/site.ts";
import type { CompanyStatusView } from "../company-view.ts";
import { companyBody } from "./company-page.ts";
import { GuardedSite, searchedText } from "./guarded-site.ts";
import { readPageFacts, searchMirror, whyUnreadable, type PageCompany } from "./page-facts.ts";
import type { PageMoment } from "./moments.ts";
import type { PageAccess } from "./page-access.ts";
import { overviewBody, overviewPath } from "./overview.ts";
import { searchBody } from "./history-parts.ts";

/** What holds the companies: the daemon. */
interface SiteSource {
  readonly config: Pick<Config, "companies" | "schedule">;
  pageOf(company: string): PageCompany | null;
  recentViews(): Promise<readonly CompanyStatusView[]>;
}

const companyPath = /^\/companies\/([a-zA-Z0-9_-]{1,64})(\/changes)?$/;
/** What this process has computed so far, ms: unlike the time it took, a busy machine does not change it. */
const costMs = () => (process.cpuUsage().user + process.cpuUsage().system) / 1_000;
/** A page is made again after so many times what making it computes: looking takes little of the one thread there is. */
const keptFor = { factor: 200, shortestMs: 2_000, longestMs: 5 * 60_000, costMs };

/** The pages for people. They send no request to the service, and write nothing. */
export class StatusSite extends GuardedSite {
  private readonly source: SiteSource;
  private readonly clock: Clock;

  constructor(version: string, access: PageAccess, clock: Clock, source: SiteSource) {
    super(version, access, clock, keptFor);
    this.source = source;
    this.clock = clock;
  }

  protected isPage(path: string): boolean {
    return path === "/" || companyPath.test(path);
  }

  protected pageFor(request: SiteRequest): Page | Promise<Page> {
    const [, named, isSearch] = companyPath.exec(request.path) ?? [];
    const [only, another] = this.source.config.companies;
    const company = named ?? (another === undefined ? only?.name : undefined);
    if (company === undefined) return this.overviewPage(request);
    const found = this.source.pageOf(company);
    if (!found)
      return this.plainPage(404, "There is no such company", "The config names no company like that.");
    if (isSearch !== undefined) return this.searchPage(company, found, request);
    return this.kept(company, () => this.companyPage(company, found));
  }

  private companyPage(company: string, found: PageCompany): Page {
    const moment = this.moment();
    const live = { view: found.view(), progress: found.progress() };
    const facts = { company, moment, ...live, ...readPageFacts(found, moment.nowMs) };
    const trail = this.trailTo([company, `/companies/${company}`]);
    return this.page({ title: company, body: companyBody(facts), trail, isLive: true });
  }

  private async searchPage(company: string, page: PageCompany, { query }: SiteRequest): Promise<Page> {
    const before = Number(query.get("before") ?? Number.NaN);
    const resources = Object.keys(page.view().sweptMs);
    const question = {
      text: searchedText(query),
      resource: resources.find((name) => name === query.get("resource")) ?? null,
      beforeSeq: Number.isSafeInteger(before) ? before : null,
    };
    const found = await searchMirror(page, question).catch(whyUnreadable);
    if (typeof found === "string") return this.plainPage(503, "The mirror's file cannot be read", found);
    const body = searchBody(company, question, found, resources, this.moment());
    const path = `/companies/${company}`;
    const trail = this.trailTo([company, path], ["Changes", `${path}/changes`]);
    return this.page({ title: `Changes of ${company}`, body, trail });
  }

  private overviewPage({ query }: SiteRequest): Promise<Page> {
    const text = searchedText(query);
    const page = Math.min(1_000, Math.max(1, Math.floor(Number(query.get("page") ?? 1)) || 1));
    return this.kept(overviewPath({ text, page }), async () => {
      const body = overviewBody(await this.source.recentViews(), this.moment(), { text, page });
      return this.page({ title: "All companies", body, isLive: true });
    });
  }

  private moment(): PageMoment {
    return { nowMs: this.clock.nowMs(), timeZone: this.source.config.schedule.timezone };
  }

  private trailTo(...links: readonly (readonly [string, string])[]): (readonly [string, string])[] {
    const isOne = this.source.config.companies.length === 1;
    return isOne && links.length === 1 ? [] : [...(isOne ? [] : [["All companies", "/"] as const]), ...links];
  }
}
