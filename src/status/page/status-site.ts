import type { Clock } from "../../base/clock.ts";
import type { Page } from "../../server/response.ts";
import type { SiteRequest } from "../../server/site.ts";
import type { CompanyStatusView } from "../company-view.ts";
import type { ReadyLimits } from "../conditions.ts";
import { companyBody } from "./company-page.ts";
import { GuardedSite, searchedText } from "./guarded-site.ts";
import { readPageFacts, searchMirror, whyUnreadable, type PageCompany } from "./page-facts.ts";
import type { PageMoment } from "./moments.ts";
import type { PageAccess } from "./page-access.ts";
import { overviewBody, overviewPath } from "./overview.ts";
import { searchBody } from "./history-parts.ts";

interface SiteOptions {
  readonly clock: Clock;
  readonly version: string;
  readonly access: PageAccess;
  readonly companies: () => readonly string[];
  readonly find: (company: string) => PageCompany | null;
  readonly views: () => Promise<readonly CompanyStatusView[]>;
  readonly limits: () => ReadyLimits;
  /** Of exact times. */
  readonly timeZone: () => string;
}

const companyPath = /^\/companies\/([a-zA-Z0-9_-]{1,64})(\/changes)?$/;
/** What this process has computed so far, ms: unlike the time it took, a busy machine does not change it. */
const costMs = () => (process.cpuUsage().user + process.cpuUsage().system) / 1_000;
/** A page is made again after so many times what making it computes: looking takes little of the one thread there is. */
const keptFor = { factor: 200, shortestMs: 2_000, longestMs: 5 * 60_000, costMs };

/** The pages for people. They send no request to the service, and write nothing. */
export class StatusSite extends GuardedSite {
  private readonly options: SiteOptions;

  constructor(options: SiteOptions) {
    super(options.version, options.access, options.clock, keptFor);
    this.options = options;
  }

  protected isPage(path: string): boolean {
    return path === "/" || companyPath.test(path);
  }

  protected pageFor(request: SiteRequest): Page | Promise<Page> {
    const [, named, isSearch] = companyPath.exec(request.path) ?? [];
    const [only, another] = this.options.companies();
    const company = named ?? (another === undefined ? only : undefined);
    if (company === undefined) return this.overviewPage(request);
    const found = this.options.find(company);
    if (!found)
      return this.plainPage(404, "There is no such company", "The config names no company like that.");
    if (isSearch !== undefined) return this.searchPage(company, found, request);
    return this.kept(company, () => this.companyPage(company, found));
  }

  private companyPage(company: string, found: PageCompany): Page {
    const [moment, limits] = [this.moment(), this.options.limits()];
    const live = { view: found.view(), progress: found.progress() };
    const facts = { company, moment, limits, ...live, ...readPageFacts(found, moment.nowMs, limits) };
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
      const { views, limits } = this.options;
      const facts = { views: await views(), moment: this.moment(), limits: limits() };
      return this.page({ title: "All companies", body: overviewBody(facts, { text, page }), isLive: true });
    });
  }

  private moment(): PageMoment {
    return { nowMs: this.options.clock.nowMs(), timeZone: this.options.timeZone() };
  }

  private trailTo(...links: readonly (readonly [string, string])[]): (readonly [string, string])[] {
    const isOne = this.options.companies().length === 1;
    return isOne && links.length === 1 ? [] : [...(isOne ? [] : [["All companies", "/"] as const]), ...links];
  }
}
