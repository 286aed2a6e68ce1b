/** What an export may be asked for, by the config and on the command line. */
export const formats = ["csv", "parquet", "jsonl", "xlsx"] as const;

/** `standard`: comma, decimal point, RFC 4180. `excel-sk`: what a Slovak Excel opens by a double click. */
export const dialects = ["standard", "excel-sk"] as const;

/** Periods by which an export can be divided into files. */
export const partitions = ["year", "month"] as const;

/** By choice its usual value, and the formats that obey another one. */
const choices: Readonly<Record<string, { readonly usual: unknown; readonly formats: readonly string[] }>> = {
  dialect: { usual: "standard", formats: ["csv"] },
  language: { usual: "en", formats: ["csv", "xlsx"] },
  nested: { usual: false, formats: ["parquet"] },
  partition_by: { usual: null, formats: ["csv", "parquet", "jsonl"] },
  since: { usual: null, formats: ["csv", "parquet", "jsonl"] },
};

/** The choices that an export's format does not obey, each with the formats that do. */
export function unobeyed(format: string, given: Readonly<Record<string, unknown>>): [string, string][] {
  return Object.entries(choices).flatMap(([name, { usual, formats: some }]) =>
    (given[name] ?? usual) === usual || some.includes(format) ? [] : [[name, some.join(" or ")]],
  );
}
