import path from "node:path";

/** What the build knows of the project's files. */
export interface ProjectFiles {
  readonly isPage: (file: string) => boolean;
  readonly isFile: (file: string) => boolean;
}

export interface SiteLink {
  /** What stands in the page. */
  readonly href: string;
  /** A file that is no page and is copied beside the pages. */
  readonly copied: string | null;
}

/**
 * The link of a Markdown file as the site has it: pages end in `.html`, other files of the project are copied.
 *
 * @param source file with the link, from the project's folder
 * @throws where the link leads to nothing
 */
export function siteLink(source: string, href: string, files: ProjectFiles): SiteLink {
  if (/^(https?:|mailto:|#)/.test(href)) return { href, copied: null };
  const [, written = "", anchor = ""] = /^([^#]*)(#.*)?$/.exec(href) ?? [];
  const file = path.posix.normalize(path.posix.join(path.posix.dirname(source), written));
  const isPage = files.isPage(file);
  if (file.startsWith("..") || (!isPage && !files.isFile(file)))
    throw new Error(`${source}: the link ${href} leads nowhere`);
  if (!isPage) return { href, copied: file };
  const target = written.replace(/README\.md$/, "index.md").replace(/\.md$/, ".html");
  return { href: target + anchor, copied: null };
}

/** The id of a heading as GitHub makes it, so that one link works in both places. */
export function headingId(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");
}

const anchors = (html: string) => new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id ?? ""));

/**
 * What is wrong with built pages, each line with the page it is in: a link to a heading that is not there, and
 * anything that a browser would fetch from another host.
 *
 * @param pages HTML by its place in the site
 */
export function faultsOfSite(pages: ReadonlyMap<string, string>): string[] {
  const ids = new Map([...pages].map(([place, html]) => [place, anchors(html)]));
  return [...pages].flatMap(([place, html]) => [
    ...brokenAnchors(place, html, ids),
    ...[
      ...html.matchAll(/<(?:script|img|link|iframe|source)\b[^>]*(?:src|href)="(?:https?:)?\/\/[^>]*>/g),
    ].map(([tag]) => `${place}: ${tag} would be fetched from another host`),
  ]);
}

function brokenAnchors(place: string, html: string, ids: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const links = [...html.matchAll(/<a\b[^>]*href="([^":]*)#([^"]+)"/g)];
  return links.flatMap(([, file = "", id = ""]) => {
    const target = file === "" ? place : path.posix.join(path.posix.dirname(place), file);
    return ids.get(target)?.has(decodeURIComponent(id))
      ? []
      : [`${place}: there is no heading ${file}#${id}`];
  });
}
