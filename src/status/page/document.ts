import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Page } from "../../server/response.ts";
import { html, type Html } from "./html.ts";
import { banner } from "./page-part.ts";

const types = { css: "text/css", js: "text/javascript", svg: "image/svg+xml" } as const;

/** What every page loads: pages by path, and the paths, with a hash of the content: a browser may keep them for ever. */
function readAssets() {
  const made = Object.entries(types).map(([extension, type]) => {
    const body = readFileSync(new URL(`./assets/status.${extension}`, import.meta.url), "utf8");
    const path = `/assets/status.${shortHash(body)}.${extension}`;
    const headers = { ...safety, "Cache-Control": "public, max-age=31536000, immutable" };
    return [path, { status: 200, type: `${type}; charset=utf-8`, body, headers }] as const;
  });
  const [style = "", script = "", icon = ""] = made.map(([path]) => path);
  const pages: Readonly<Record<string, Page>> = Object.fromEntries(made);
  return { pages, style, script, icon };
}

function shortHash(text: string): string {
  return hash("sha256", text).slice(0, 16);
}

/** Nothing from another place, nothing inline, in no frame. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const safety = {
  "Content-Security-Policy": policy,
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
};

interface DocumentFacts {
  /** Without the name of this program. */
  readonly title: string;
  readonly body: Html;
  /** Links above: text by path, the last one is this page. @default none */
  readonly trail?: readonly (readonly [string, string])[];
  /** It is asked for again and again, and so follows what it shows. @default false */
  readonly isLive?: boolean;
}

export type Documents = ReturnType<typeof createDocuments>;

export function createDocuments(version: string) {
  const { pages: assets, ...paths } = readAssets();
  const page = (facts: DocumentFacts, status = 200, more: Readonly<Record<string, string>> = {}): Page => {
    const tag = facts.isLive === true ? `"${shortHash(facts.body.text)}"` : null;
    const body = documentOf(facts, tag, { version, ...paths }).text.replaceAll(/\n\s+/g, "\n");
    const headers = { ...safety, "Cache-Control": "no-store", ...more, ...(tag !== null && { ETag: tag }) };
    return { status, type: "text/html; charset=utf-8", body, headers };
  };
  const plainPage = (status: number, title: string, text: string, headers?: Record<string, string>) =>
    page({ title, body: banner("look", title, text) }, status, headers);
  return { assets, page, plainPage };
}

function documentOf(
  { title, body, trail = [] }: DocumentFacts,
  tag: string | null,
  { version, style, script, icon }: Readonly<Record<"version" | "style" | "script" | "icon", string>>,
): Html {
  const isLive = tag !== null;
  return html`<!doctype html>
    <html lang="en" ${isLive && html` data-tag="${tag}"`}>
      <head>
        <meta charset="utf-8" />
        <title>${title} · fintoro-mirror</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <link rel="icon" type="image/svg+xml" href="${icon}" />
        <link rel="stylesheet" href="${style}" />
        ${isLive && html`<script src="${script}" defer></script>`}
      </head>
      <body>
        <a class="skip" href="#main">To the content</a>
        <header class="top">
          <a class="brand" href="/">fintoro-mirror</a>${trail.length > 1 && trailOf(trail)}
        </header>
        <main id="main" tabindex="-1">${body}</main>
        <footer class="bottom">
          <p id="connection">${isLive && "This page is as it was when it was loaded."}</p>
          <p>
            ${version} · <a href="/readyz">/readyz</a> · <a href="/metrics">/metrics</a> ·
            <a href="/healthz">/healthz</a>
          </p>
        </footer>
      </body>
    </html> `;
}

function trailOf(trail: NonNullable<DocumentFacts["trail"]>): Html {
  const links = trail.map(([text, path], i) => {
    const isHere = i === trail.length - 1;
    return html`<li>
      ${isHere ? html`<span aria-current="page">${text}</span>` : html`<a href="${path}">${text}</a>`}
    </li>`;
  });
  return html`<nav aria-label="Where you are">
    <ol class="trail">
      ${links}
    </ol>
  </nav>`;
}
