import type { Page } from "../../server/response.ts";
import type { Site, SiteRequest } from "../../server/site.ts";
import { createDocuments, type Documents } from "./document.ts";
import { html, type Html } from "./html.ts";
import type { PageAccess, PageVerdict } from "./page-access.ts";
import { banner, prose } from "./page-part.ts";

const mostText = 100;

/**
 * Pages for people: who may not see them is shown none, and can sign in.
 *
 * @param pageFor the page for somebody who may see it
 */
export function createGuardedSite(
  version: string,
  access: PageAccess,
  isPage: (path: string) => boolean,
  pageFor: (request: SiteRequest, documents: Documents) => Page | Promise<Page>,
): Site {
  const documents = createDocuments(version);
  const { assets } = documents;
  return {
    methodsOf(path) {
      if (path === "/session") return "POST";
      return Object.hasOwn(assets, path) || isPage(path) ? "GET, HEAD" : null;
    },
    async answer(request) {
      const { path, query, form } = request;
      const asset = Object.hasOwn(assets, path) ? assets[path] : undefined;
      if (asset) return asset;
      if (form) return signIn(documents, access, request, form);
      const verdict = access.judge(request);
      if (verdict === "granted") return pageFor(request, documents);
      return refused(documents, verdict, query.size > 0 ? `${path}?${query.toString()}` : path);
    },
  };
}

function refused(
  { page, plainPage }: Documents,
  verdict: Exclude<PageVerdict, "granted">,
  next: string,
  wasWrong = false,
): Page {
  if (verdict === "wait")
    return plainPage(429, "Too many wrong tokens", "Wait a minute, and try again.", { "Retry-After": "60" });
  if (verdict === "no token set")
    return plainPage(
      403,
      "Pages need a token here",
      "Beyond this machine the pages are shown only with a token: set serve.page_token in the config, for example to ${env:FINTORO_MIRROR_PAGE_TOKEN}, and reload.",
    );
  const isMade = verdict === "made token wanted";
  const place = isMade ? "the file `page-token` in `data_dir` has it, unless you set " : "";
  const sentence = prose(`The pages need a token: ${place}\`serve.page_token\`.`);
  const body = banner("busy", "Sign in", sentence, signInForm(next, wasWrong));
  return page({ title: "Sign in", body }, isMade ? 403 : 401, { "WWW-Authenticate": "Bearer" });
}

function signIn(
  documents: Documents,
  access: PageAccess,
  { headers }: SiteRequest,
  form: URLSearchParams,
): Page {
  const asked = form.get("next") ?? "/";
  const next = /^\/(?![/\\])[\x21-\x7e]*$/.test(asked) ? asked : "/";
  const answer = access.signIn(form.get("token") ?? "", headers);
  if (typeof answer === "string") return refused(documents, answer, next, true);
  const given = { Location: next, "Set-Cookie": answer.cookie };
  return documents.plainPage(303, "Signed in", "The page follows.", given);
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
