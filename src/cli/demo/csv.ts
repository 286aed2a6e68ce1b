/** A cell, quoted or not, and what ended it. */
const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/gy;

/** Reads a CSV file as it is defined, apart from whoever wrote it: one object for each row, by the first row's names. */
export function readCsv(text: string): Record<string, string>[] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain = "", end] of text.replace(/\r?\n$/, "").matchAll(cell)) {
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === ",") continue;
    rows.push(row);
    row = [];
    if (end === "") break;
  }
  const [names = [], ...records] = rows;
  return records.map((cells) => Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ""])));
}
