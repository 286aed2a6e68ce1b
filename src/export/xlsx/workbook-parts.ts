import { spreadsheetNamespace, xmlText } from "./sheet-xml.ts";

/** A finished sheet: its name, and the cells of its filter. */
export interface SheetEntry {
  readonly name: string;
  readonly filter: string;
}

export function sheetPath(number: number): string {
  return `xl/worksheets/sheet${number}.xml`;
}

const attribute = (text: string) => xmlText(text).replaceAll('"', "&quot;");
const officeRelations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const packageRelations = "http://schemas.openxmlformats.org/package/2006/relationships";
const typeOf = (part: string) => `application/vnd.openxmlformats-officedocument.spreadsheetml.${part}+xml`;

/** The parts before the sheets. Any part but those named is a sheet, so that their number need not be known. */
export const firstParts: readonly (readonly [name: string, xml: string])[] = [
  [
    "[Content_Types].xml",
    `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="${typeOf("worksheet")}"/><Override PartName="/xl/workbook.xml" ContentType="${typeOf("sheet.main")}"/><Override PartName="/xl/styles.xml" ContentType="${typeOf("styles")}"/></Types>`,
  ],
  [
    "_rels/.rels",
    `<Relationships xmlns="${packageRelations}"><Relationship Id="rId1" Type="${officeRelations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  ],
];

/** The parts after the sheets: the workbook, and where its sheets are. */
export function lastParts(sheets: readonly SheetEntry[]): (readonly [name: string, xml: string])[] {
  const list = sheets.map(
    ({ name }, at) => `<sheet name="${attribute(name)}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`,
  );
  const filters = sheets.map(
    ({ name, filter }, at) =>
      `<definedName name="_xlnm._FilterDatabase" localSheetId="${at}" hidden="1">${xmlText(`'${name.replaceAll("'", "''")}'!${filter}`)}</definedName>`,
  );
  const relation = (id: number, part: string, target: string) =>
    `<Relationship Id="rId${id}" Type="${officeRelations}/${part}" Target="${target}"/>`;
  const targets = sheets.map((_, at) => relation(at + 1, "worksheet", `/${sheetPath(at + 1)}`));
  const styles = relation(sheets.length + 1, "styles", "/xl/styles.xml");
  return [
    [
      "xl/workbook.xml",
      `<workbook xmlns="${spreadsheetNamespace}" xmlns:r="${officeRelations}"><bookViews><workbookView/></bookViews><sheets>${list.join("")}</sheets><definedNames>${filters.join("")}</definedNames></workbook>`,
    ],
    [
      "xl/_rels/workbook.xml.rels",
      `<Relationships xmlns="${packageRelations}">${targets.join("")}${styles}</Relationships>`,
    ],
  ];
}

const maxNameLength = 31;

/**
 * A name that Excel accepts for a sheet, and that no sheet before it has in either case. `continues` is 1 for the first
 * sheet of a table, and counts those that hold its further rows.
 */
export function sheetName(title: string, continues: number, taken: Iterable<string>): string {
  const lower = new Set([...taken].map((name) => name.toLowerCase()));
  const plain = title.replaceAll(/[\p{Cc}[\]:*?/\\\ufffe\uffff]+/gu, " ").replaceAll(/^['\s]+|['\s]+$/g, "");
  const base = plain === "" || /^history$/i.test(plain) ? `${plain}_` : plain;
  for (let number = continues; ; number++) {
    const end = number === 1 ? "" : ` (${number})`;
    const name = base.slice(0, maxNameLength - end.length).toWellFormed() + end;
    if (!lower.has(name.toLowerCase())) return name;
  }
}
