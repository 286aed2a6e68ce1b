import type { Clock } from "../../base/clock.ts";
import { createKeptPages } from "../../server/kept-pages.ts";
import type { Page } from "../../server/response.ts";
import type { Site, SiteRequest } from "../../server/site.ts";
import type { CompanyStatusView } from "../company-view.ts";
import type { ReadyLimits } from "../conditions.ts";
import { companyBody } from "./company-page.ts";
import { documentPage, readAssets, type Assets, type DocumentFacts } from "./document.ts";
import { readPageFacts, searchMirror, whyUnreadable, type PageCompany } from "./page-facts.ts";
import { html, type Html } from "./html.ts";
import type { PageMoment } from "./moments.ts";
import { banner, prose } from "./page-part.ts";
import { overviewBody, overviewPath } from "./overview.ts";
import type { PageVerdict, PageAccess } from "./page-access.ts";
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
const mostText = 100;

/** The pages for people. They send no request to the service, and write nothing. */
export class StatusSite implements Site {
  private readonly options: SiteOptions;
  private readonly assets: Assets = readAssets();
  private readonly kept: ReturnType<typeof createKeptPages<Page>>;

  constructor(options: SiteOptions) {
    this.options = options;
    this.kept = createKeptPages(options.clock, keptFor);
  }

  methodsOf(path: string): "GET, HEAD" | "POST" | null {
    if (path === "/session") return "POST";
    const isKnown = path === "/" || Object.hasOwn(this.assets.pages, path);
    return isKnown || companyPath.test(path) ? "GET, HEAD" : null;
  }

  async answer(request: SiteRequest): Promise<Page> {
    const { path, form } = request;
    const asset = Object.hasOwn(this.assets.pages, path) ? this.assets.pages[path] : undefined;
    if (asset) return asset;
    if (form) return this.signIn(request, form);
    const access = this.options.access.judge(request);
    if (access !== "granted") return this.refused(access, pathOf(request));
    const [, named, isSearch] = companyPath.exec(path) ?? [];
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

  private page(
    facts: Omit<DocumentFacts, "version" | "assets">,
    status = 200,
    headers: Readonly<Record<string, string>> = {},
  ): Page {
    return documentPage(status, { ...facts, version: this.options.version, assets: this.assets }, headers);
  }

  private plainPage(status: number, title: string, text: string, headers?: Record<string, string>): Page {
    return this.page({ title, body: banner("look", title, text) }, status, headers);
  }

  private refused(access: Exclude<PageVerdict, "granted">, next: string, wasWrong = false): Page {
    if (access === "wait")
      return this.plainPage(429, "Too many wrong tokens", "Wait a minute, and try again.", {
        "Retry-After": "60",
      });
    if (access === "no token set")
      return this.plainPage(
        403,
        "Pages need a token here",
        "Beyond this machine the pages are shown only with a token: set serve.page_token in the config, for example to ${env:FINTORO_MIRROR_PAGE_TOKEN}, and reload.",
      );
    const isMade = access === "made token wanted";
    const place = isMade ? "the file `page-token` in `data_dir` has it, unless you set " : "";
    const sentence = prose(`The pages need a token: ${place}\`serve.page_token\`.`);
    const body = banner("busy", "Sign in", sentence, signInForm(next, wasWrong));
    return this.page({ title: "Sign in", body }, isMade ? 403 : 401, { "WWW-Authenticate": "Bearer" });
  }

  private signIn({ headers }: SiteRequest, form: URLSearchParams): Page {
    const asked = form.get("next") ?? "/";
    const next = /^\/(?![/\\])[\x21-\x7e]*$/.test(asked) ? asked : "/";
    const answer = this.options.access.signIn(form.get("token") ?? "", headers);
    if (typeof answer === "string") return this.refused(answer, next, true);
    const given = { Location: next, "Set-Cookie": answer.cookie };
    return this.plainPage(303, "Signed in", "The page follows.", given);
  }
}

function signInForm(next: string, wasWrong: boolean): Html {
  return html`${wasWrong && html`<p class="next" role="alert">That is not the token.</p>`}
    <form class="search" method="post" action="/session">
      <label
        >Token <input type="password" name="token" required autocomplete="current-password" maxlength="500"
      /></label>
      <input type="hidden" name="next" value="${next}" />
      <button>Show the pages</button>
    </form>`;
}

function searchedText(query: URLSearchParams): string {
  return (query.get("q") ?? "").slice(0, mostText).toWellFormed();
}

function pathOf({ path, query }: SiteRequest): string {
  return query.size > 0 ? `${path}?${query.toString()}` : path;
}
