import labels from "./labels.json" with { type: "json" };

/** How `labels.json` orders the groups of a language; the order of the labels is the order of their ids. */
const groups = ["delivery", "payment", "qr", "unit", "discount"] as const;

/** Units that every language shares; their ids follow those of the units with words. */
const symbols = ["cm", "m", "m²", "m³", "km", "l", "g", "kg", "t"];

/** The labels of a group in the order of their ids; English where the language has none. */
export function labelsOf(group: (typeof groups)[number], languageCode: string): readonly string[] {
  const row = labels[languageCode as keyof typeof labels] ?? labels.en;
  const words = (row.split(" / ")[groups.indexOf(group)] ?? "").split("|");
  return group === "unit" ? [...words, ...symbols] : words;
}

/** What a discount is called where a document line gives it no name. */
export function discountLabel(languageCode: string): string {
  return labelsOf("discount", languageCode)[0] ?? "";
}
