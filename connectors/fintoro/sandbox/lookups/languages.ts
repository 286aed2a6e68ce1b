/** A language of the service: its own code (`cz`, `si`, ...) and the standard one that browsers send. */
export interface Language {
  readonly id: number;
  readonly code: string;
  readonly tag: string;
}

const list = "sk en de es hu ee:et fr cz:cs hr it lt nl pl pt ro rs:sr ru si:sl ua:uk";

/** All languages in the order of their ids. */
export const languages: readonly Language[] = list.split(" ").map((entry, index) => {
  const [code = "", tag = code] = entry.split(":");
  return { id: index + 1, code, tag };
});

/** The language of an answer where nobody asks for another one. */
export const english: Language = { id: 2, code: "en", tag: "en" };

const byName = new Map(languages.flatMap((info) => [[info.code, info] as const, [info.tag, info] as const]));

/** The language with this code, the service's or the standard one. */
export function languageNamed(name: string): Language | undefined {
  return byName.get(name.toLowerCase());
}

/** The language with this id; English for an unknown one. */
export function languageById(id: number): Language {
  return languages[id - 1] ?? english;
}

/** `sk-SK,sk;q=0.9,en;q=0.5` -> the best language that the service speaks, or the fallback. */
export function negotiate(header: string | undefined, fallback: Language): Language {
  const ranges = (header ?? "").matchAll(/([\w*-]+)\s*(?:;\s*q=([\d.]+))?/g);
  const wishes = Array.from(ranges, ([, range = "", quality = "1"]) => ({ range, quality: Number(quality) }));
  const best = wishes.filter(({ quality }) => quality > 0).toSorted((a, b) => b.quality - a.quality);
  for (const { range } of best) {
    const known = languageNamed(range) ?? languageNamed(range.split(/[-_]/)[0] ?? "");
    if (known) return known;
  }
  return fallback;
}
