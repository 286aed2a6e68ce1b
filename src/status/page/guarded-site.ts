import type { Clock } from "../../base/clock.ts";
import { createKeptPages, type KeptFor } from "../../server/kept-pages.ts";
import type { Page } from "../../server/response.ts";
import type { Site, SiteRequest } from "../../server/site.ts";
import { documentPage, readAssets, type DocumentFacts } from "./document.ts";
import { html, type Html } from "./html.ts";
import type { PageAccess, PageVerdict } from "./page-access.ts";
import { banner, prose } from "./page-part.ts";

const mostText = 100;

/** Pages for people: who may not see them is shown none, and can sign in. */
export abstract class GuardedSite implements Site {
  protected readonly kept: ReturnType<typeof createKeptPages<Page>>;
  private readonly version: string;
  private readonly access: PageAccess;
  private readonly assets = readAssets();

  constructor(version: string, access: PageAccess, clock: Clock, keptFor: KeptFor) {
    this.kept = createKeptPages(clock, keptFor);
    this.version = version;
    this.access = access;
  }

  protected abstract isPage(path: string): boolean;

  /** The page for somebody who may see it. */
  protected abstract pageFor(request: SiteRequest): Page | Promise<Page>;

  methodsOf(path: string): "GET, HEAD" | "POST" | null {
    if (path === "/session") return "POST";
    return Object.hasOwn(this.assets.pages, path) || this.isPage(path) ? "GET, HEAD" : null;
  }

  async answer(request: SiteRequest): Promise<Page> {
    const { path, query, form } = request;
    const asset = Object.hasOwn(this.assets.pages, path) ? this.assets.pages[path] : undefined;
    if (asset) return asset;
    if (form) return this.signIn(request, form);
    const access = this.access.judge(request);
    if (access === "granted") return this.pageFor(request);
    return this.refused(access, query.size > 0 ? `${path}?${query.toString()}` : path);
  }

  protected page(
    facts: Omit<DocumentFacts, "version" | "assets">,
    status = 200,
    headers: Readonly<Record<string, string>> = {},
  ): Page {
    return documentPage(status, { ...facts, version: this.version, assets: this.assets }, headers);
  }

  protected plainPage(status: number, title: string, text: string, headers?: Record<string, string>): Page {
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
    const answer = this.access.signIn(form.get("token") ?? "", headers);
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

export function searchedText(query: URLSearchParams, key = "q"): string {
  return (query.get(key) ?? "").slice(0, mostText).toWellFormed();
}
