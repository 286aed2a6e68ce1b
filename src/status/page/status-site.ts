import type { Clock } from "../../base/clock.ts";
import { KeptPages } from "../../webhook/server/kept-pages.ts";
import type { Page } from "../../webhook/server/response.ts";
import type { Site, SiteRequest } from "../../webhook/server/site.ts";
import type { CompanyStatusView } from "../company-status.ts";
import type { ReadyLimits } from "../conditions.ts";
import { companyBody, companyParts, searchPageBody } from "./company-page.ts";
import { documentPage, readAssets, type Assets } from "./document.ts";
import { cpuMs, FactsReader, whyUnreadable } from "./facts/facts-reader.ts";
import type { PageCompany } from "./facts/company-facts.ts";
import { html } from "./markup/html.ts";
import type { Moment } from "./markup/moments.ts";
import { overviewForm, overviewParts, overviewPath } from "./overview.ts";
import type { Access, PageAccess } from "./page-access.ts";

/** What the pages are made from. */
export interface SiteOptions {
  readonly clock: Clock;
  readonly version: string;
  readonly access: PageAccess;
  /** In the order of the config. */
  readonly companies: () => readonly string[];
  readonly find: (company: string) => PageCompany | null;
  readonly views: () => Promise<readonly CompanyStatusView[]>;
  readonly limits: () => ReadyLimits;
  /** Of exact times. */
  readonly timeZone: () => string;
}

const companyPath = /^\/companies\/([a-zA-Z0-9_-]{1,64})(\/changes)?$/;
/** A page is made again after so many times what making it computes: looking takes little of the one thread there is. */
const keptFor = { factor: 200, shortestMs: 2_000, longestMs: 5 * 60_000, costMs: cpuMs };
/** The longest text that is searched for. */
const mostText = 100;

/** The pages for people. They send no request to the service, and write nothing. */
export class StatusSite implements Site {
  private readonly options: SiteOptions;
  private readonly assets: Assets = readAssets();
  private readonly kept: KeptPages<string, Page>;
  private readonly readers = new Map<string, FactsReader>();

  constructor(options: SiteOptions) {
    this.options = options;
    this.kept = new KeptPages(options.clock, keptFor);
  }

  methodsOf(path: string): "GET, HEAD" | "POST" | null {
    if (path === "/session") return "POST";
    const isKnown = path === "/" || Object.hasOwn(this.assets.pages, path);
    return isKnown || companyPath.test(path) ? "GET, HEAD" : null;
  }

  async answer(request: SiteRequest): Promise<Page> {
    const { path } = request;
    const asset = Object.hasOwn(this.assets.pages, path) ? this.assets.pages[path] : undefined;
    if (asset) return asset;
    if (request.form) return this.signIn(request, request.form);
    const access = this.options.access.judge(request);
    if (access !== "granted") return this.refused(access, pathOf(request));
    const [, company, isSearch] = companyPath.exec(path) ?? [];
    const [only, another] = this.options.companies();
    const one = company ?? (another === undefined ? only : undefined);
    if (one === undefined) return this.overviewAnswer(request);
    return this.companyAnswer(one, isSearch !== undefined, request);
  }

  private companyAnswer(company: string, isSearch: boolean, request: SiteRequest): Promise<Page> | Page {
    const page = this.options.find(company);
    if (!page)
      return this.plainPage(404, "There is no such company", "The config names no company like that.");
    if (isSearch) return this.searchAnswer(company, page, request);
    return this.kept.get(company, () => this.companyPage(company, page));
  }

  private companyPage(company: string, page: PageCompany): Page {
    const facts = this.reader(company).read(page, this.moment(), this.options.limits());
    const body = companyBody(company, companyParts(facts), Object.keys(facts.view.sweptMs));
    const trail = this.trailTo([company, `/companies/${company}`]);
    return this.page(`${company} · fintoro-mirror`, body, { trail, isLive: true });
  }

  private async searchAnswer(company: string, page: PageCompany, { query }: SiteRequest): Promise<Page> {
    const before = Number(query.get("before") ?? Number.NaN);
    const resources = Object.keys(page.view().sweptMs);
    const question = {
      text: (query.get("q") ?? "").slice(0, mostText).toWellFormed(),
      resource: resources.find((name) => name === query.get("resource")) ?? null,
      beforeSeq: Number.isSafeInteger(before) ? before : null,
    };
    const found = await this.reader(company).search(page, question).catch(whyUnreadable);
    if (typeof found === "string") return this.plainPage(503, "The mirror's file cannot be read", found);
    const body = searchPageBody({ company, question, found, resources, moment: this.moment() });
    const path = `/companies/${company}`;
    const trail = this.trailTo([company, path], ["Changes", `${path}/changes`]);
    return this.page(`Changes of ${company} · fintoro-mirror`, body, { trail });
  }

  private overviewAnswer({ query }: SiteRequest): Promise<Page> {
    const text = (query.get("q") ?? "").slice(0, mostText).toWellFormed();
    const page = Math.min(1_000, Math.max(1, Math.floor(Number(query.get("page") ?? 1)) || 1));
    return this.kept.get(overviewPath({ text, page }), async () => {
      const facts = {
        views: await this.options.views(),
        moment: this.moment(),
        limits: this.options.limits(),
      };
      const [verdict, ...rest] = overviewParts(facts, { text, page }).map(({ body }) => body);
      const body = [verdict ?? null, overviewForm(text), rest];
      return this.page("All companies · fintoro-mirror", body, { isLive: true });
    });
  }

  private reader(company: string): FactsReader {
    let reader = this.readers.get(company);
    if (!reader) this.readers.set(company, (reader = new FactsReader(company)));
    return reader;
  }

  private moment(): Moment {
    return { nowMs: this.options.clock.nowMs(), timeZone: this.options.timeZone() };
  }

  private trailTo(...links: readonly (readonly [string, string])[]): (readonly [string, string])[] {
    const isOne = this.options.companies().length === 1;
    return isOne && links.length === 1 ? [] : [...(isOne ? [] : [["All companies", "/"] as const]), ...links];
  }

  private page(
    title: string,
    body: Parameters<typeof documentPage>[1]["body"],
    more: Partial<Parameters<typeof documentPage>[1]> & { readonly status?: number } = {},
    headers: Readonly<Record<string, string>> = {},
  ): Page {
    const { status = 200, ...facts } = more;
    const { assets } = this;
    const { version } = this.options;
    return documentPage(status, { title, body, version, assets, ...facts }, headers);
  }

  private plainPage(status: number, title: string, text: string): Page {
    const body = html`<section class="verdict look" aria-labelledby="title">
      <h1 id="title">${title}</h1>
      <p class="sentence">${text}</p>
    </section>`;
    return this.page(`${title} · fintoro-mirror`, body, { status });
  }

  private refused(access: Exclude<Access, "granted">, next: string, wasWrong = false): Page {
    if (access === "wait") {
      const page = this.plainPage(429, "Too many wrong tokens", "Wait a minute, and try again.");
      return { ...page, headers: { ...page.headers, "Retry-After": "60" } };
    }
    if (access === "no token set")
      return this.plainPage(
        403,
        "Pages need a token here",
        "Beyond this machine the pages are shown only with a token: set serve.page_token in the config, for example to ${env:FINTORO_MIRROR_PAGE_TOKEN}, and reload.",
      );
    const isMade = access === "made token wanted";
    const place =
      isMade && html`the file <code>page-token</code> in <code>data_dir</code> has it, unless you set `;
    const body = html`<section class="verdict busy sign-in" aria-labelledby="title">
      <h1 id="title">Sign in</h1>
      <p class="sentence">The pages need a token: ${place}<code>serve.page_token</code>.</p>
      ${wasWrong && html`<p class="next" role="alert">That is not the token.</p>`}
      <form method="post" action="/session">
        <input type="hidden" name="next" value="${next}" />
        <label
          >Token <input type="password" name="token" required autocomplete="current-password" maxlength="500"
        /></label>
        <button>Show the pages</button>
      </form>
    </section>`;
    const status = isMade ? 403 : 401;
    return this.page("Sign in · fintoro-mirror", body, { status }, { "WWW-Authenticate": "Bearer" });
  }

  private signIn({ headers }: SiteRequest, form: URLSearchParams): Page {
    const asked = form.get("next") ?? "/";
    const next = /^\/(?![/\\])[\x21-\x7e]*$/.test(asked) ? asked : "/";
    const answer = this.options.access.signIn(form.get("token") ?? "", headers);
    if (typeof answer === "string") return this.refused(answer, next, true);
    const page = this.plainPage(303, "Signed in", "The page follows.");
    return { ...page, headers: { ...page.headers, Location: next, "Set-Cookie": answer.cookie } };
  }
}

function pathOf({ path, query }: SiteRequest): string {
  return query.size > 0 ? `${path}?${query.toString()}` : path;
}
