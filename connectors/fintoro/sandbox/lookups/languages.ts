/** The service's own codes (`cz`, `si`, …) beside the standard ones that browsers send. */
export interface LanguageInfo {
  readonly id: number;
  readonly code: string;
  readonly tag: string;
}

const list = "sk en de es hu ee:et fr cz:cs hr it lt nl pl pt ro rs:sr ru si:sl ua:uk";

export const languages: readonly LanguageInfo[] = list.split(" ").map((entry, index) => {
  const [code = "", tag = code] = entry.split(":");
  return { id: index + 1, code, tag };
});

export type Language = LanguageInfo;

/** What an answer is written in where nobody asks for another language. */
export const english: Language = { id: 2, code: "en", tag: "en" };

const byName = new Map(languages.flatMap((info) => [[info.code, info] as const, [info.tag, info] as const]));

export function languageNamed(name: string): Language | undefined {
  return byName.get(name.toLowerCase());
}

export function languageById(id: number): Language | undefined {
  return languages[id - 1];
}

/** `sk-SK,sk;q=0.9,en;q=0.5` -> the best language the service speaks, or the fallback. */
export function negotiate(header: string | undefined, fallback: Language): Language {
  const wishes = (header ?? "")
    .split(",")
    .map((part) => {
      const [range = "", ...params] = part.trim().split(";");
      const quality = params.map((p) => /^\s*q=([\d.]+)$/.exec(p)?.[1]).find((q) => q !== undefined);
      return { range, quality: quality === undefined ? 1 : Number(quality) };
    })
    .filter((wish) => wish.range !== "" && wish.quality > 0)
    .toSorted((a, b) => b.quality - a.quality);
  for (const { range } of wishes) {
    const known = languageNamed(range) ?? languageNamed(range.split(/[-_]/)[0] ?? "");
    if (known) return known;
  }
  return fallback;
}
