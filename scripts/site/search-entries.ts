/** A heading and what stands below it, as the search of the site finds it. */
export interface SearchEntry {
  readonly place: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

const plain = (html: string) =>
  html
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&")
    .replaceAll(/\s+/g, " ")
    .trim();

/** One entry for each heading of each page. `pages` holds HTML by its place in the site. */
export function searchEntries(pages: ReadonlyMap<string, string>): SearchEntry[] {
  return [...pages].flatMap(([place, html]) => {
    const page = plain(/<title>([^<]*)/.exec(html)?.[1] ?? place);
    const body = /<main[^>]*>([\s\S]*)<\/main>/.exec(html)?.[1] ?? "";
    return [...body.matchAll(/<h[1-4] id="([^"]*)"[^>]*>([\s\S]*?)<\/h[1-4]>([\s\S]*?)(?=<h[1-4] |$)/g)].map(
      ([, id = "", heading = "", text = ""]) => ({
        place: `${place}#${id}`,
        page,
        heading: plain(heading),
        text: plain(text).slice(0, 3000),
      }),
    );
  });
}
