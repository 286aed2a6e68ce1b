import { MirrorError } from "../../base/errors.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import type { ReportType } from "../../connector/report-view.ts";
import { translatedHeading, type Language } from "../../connector/translation.ts";
import type { SnapshotColumn } from "../../store/snapshot/snapshot-tables.ts";
import { quoted } from "../../store/sql-text.ts";

/** What exports call tables and columns, and how they show values. */
export interface Labels {
  readonly language: Language;
  title(table: string): string;
  heading(column: string): string;
  /** SQL of a column's values as they are shown. */
  shown(column: Pick<SnapshotColumn, "name" | "type">): string;
  typeOf(column: Pick<SnapshotColumn, "name" | "type">): ReportType;
  readonly total: string;
}

/** Tables and columns by their names, values as they are. */
const plainLabels: Labels = {
  language: "en",
  title: (table) => table,
  heading: (column) => column,
  shown: ({ name }) => quoted(name),
  typeOf: ({ type }) => type,
  total: "Total",
};

/**
 * The labels of a language. English ones are the names themselves.
 * @throws MirrorError `usage` when the connector has no words of the language
 */
export function labelsOf({ translations, title }: Manifest, language: Language): Labels {
  if (language === "en") return plainLabels;
  const words = translations?.[language];
  if (!words) throw new MirrorError("usage", `${title} has no translation to ${language}`);
  return {
    language,
    title: (table) => words.titles[table] ?? table,
    heading: (column) => translatedHeading(words, column) ?? column,
    shown: ({ name, type }) => {
      const column = quoted(name);
      if (type === "BOOLEAN")
        return `CASE ${column} WHEN 1 THEN ${literal(words.yes)} WHEN 0 THEN ${literal(words.no)} END`;
      const values = Object.entries(words.values[name] ?? {});
      if (type !== "TEXT" || values.length === 0) return column;
      const cases = values.map(([value, word]) => `WHEN ${literal(value)} THEN ${literal(word)}`);
      return `CASE ${column} ${cases.join(" ")} ELSE ${column} END`;
    },
    typeOf: ({ type }) => (type === "BOOLEAN" ? "TEXT" : type),
    total: words.total,
  };
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
