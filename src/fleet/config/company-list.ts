/** A list of companies as a CSV file, which people write with a spreadsheet. */
import path from "node:path";
import { MirrorError } from "../../base/errors.ts";
import { nearest } from "../../base/names.ts";
import { companyName } from "../../config/company-section.ts";

interface ListedCompany {
  readonly line: number;
  readonly name: string;
  /** As the config takes it: `${env:NAME}` or `${file:/path}`. */
  readonly token: string;
  /** Null: the list has no such column, and says nothing of them. */
  readonly tags: readonly string[] | null;
}

/** A line that is not used, and why. The reason has nothing that stands in it, because that may be a token. */
export interface RefusedLine {
  readonly line: number;
  readonly reason: string;
}

const columnNames = ["name", "token", "token_file", "tags"] as const;
type ListColumn = (typeof columnNames)[number];
type NamedCells = Partial<Record<ListColumn, string>>;

/**
 * Reads a list with the columns `name`, `token` or `token_file`, and `tags`: with commas, semicolons or tabs between cells,
 * as spreadsheets write it.
 *
 * @param file as messages name it
 * @throws MirrorError `config` with the line, for what concerns the whole list
 */
export function readCompanyList(bytes: Uint8Array, file: string) {
  const [head, ...rows] = linesOf(decoded(bytes, file), file);
  const columns = columnsOf(head?.cells ?? [], `${file}:${head?.line ?? 1}`);
  const listed: ListedCompany[] = [];
  const refused: RefusedLine[] = [];
  const firstLines = new Map<string, number>();
  for (const { line, cells } of rows) {
    const named: NamedCells = Object.fromEntries(columns.map((column, at) => [column, cells[at] ?? ""]));
    const key = (named.name ?? "").toLowerCase();
    const twin = firstLines.get(key);
    const read = cells.length > columns.length ? "it has more cells than the first line" : readCells(named);
    if (typeof read === "string") refused.push({ line, reason: read });
    else if (twin !== undefined)
      refused.push({ line, reason: `line ${twin} has the same name; capital letters make no difference` });
    else {
      firstLines.set(key, line);
      listed.push({ line, ...read });
    }
  }
  return { listed, refused };
}

/** Without doubles, in the order of letters; null: one has other characters than tags have. */
export function readTags(text: string): readonly string[] | null {
  const tags = text.split(/[\s;]+/).filter((tag) => tag !== "");
  const isRight = tags.every((tag) => /^[\p{L}\p{N}][\p{L}\p{N}_.-]{0,63}$/u.test(tag));
  return isRight ? [...new Set(tags)].toSorted() : null;
}

export const tagForm = "tags have letters, digits, - _ and . only, at most 64";

function decoded(bytes: Uint8Array, file: string): string {
  try {
    // It leaves out the mark that Excel begins a file with.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw bad(`${file} is not UTF-8`, 'In a spreadsheet choose "CSV UTF-8" where it asks how to save.');
  }
}

function bad(message: string, hint = "The first line names the columns: name,token,tags"): MirrorError {
  return new MirrorError("config", message, { hint });
}

const howToQuote =
  'A cell with quotes begins and ends with one, and doubles those within: "so ""called"" things".';

/** The lines that are not empty, without empty cells at their end. A cell in quotes may have line breaks and doubled quotes. */
function linesOf(text: string, file: string) {
  const [head = ""] = text.trimStart().split(/\r|\n/, 1);
  const between = [";", "\t"].find((one) => head.includes(one)) ?? ",";
  const cell = new RegExp(`"([^"]*(?:""[^"]*)*)"|([^"${between}\\r\\n]*)`, "y");
  const end = new RegExp(`${between}|\\r\\n|\\r|\\n|$`, "y");
  const lines: { line: number; cells: string[] }[] = [];
  let cells: string[] = [];
  for (let line = 1, begun = 1; ;) {
    cell.lastIndex = end.lastIndex;
    const [written = "", quoted, plain = ""] = cell.exec(text) ?? [];
    end.lastIndex = cell.lastIndex;
    const ending = end.exec(text)?.[0];
    if (ending === undefined)
      throw bad(`${file}:${line}: a quote is not closed, or stands within a cell`, howToQuote);
    cells.push((quoted?.replaceAll('""', '"') ?? plain).trim());
    line += written.match(/\r\n|\r|\n/g)?.length ?? 0;
    if (ending === between) continue;
    const filled = cells.slice(0, cells.findLastIndex((one) => one !== "") + 1);
    if (filled.length > 0) lines.push({ line: begun, cells: filled });
    if (ending === "") return lines;
    cells = [];
    begun = ++line;
  }
}

/** A heading is shown only where it is nearly right: without a first line of headings it may be a token. */
function columnsOf(head: readonly string[], place: string): ListColumn[] {
  const columns = head.map((heading, at) => {
    const name = heading.toLowerCase();
    const known = columnNames.find((one) => one === name);
    if (known) return known;
    const meant = nearest(name, columnNames);
    if (meant !== undefined) throw bad(`${place}: the column ${name} is unknown. Did you mean ${meant}?`);
    throw bad(`${place}: column ${at + 1} is unknown: there are ${columnNames.join(", ")}`);
  });
  const twice = columns.find((column, at) => columns.indexOf(column) !== at);
  if (twice !== undefined) throw bad(`${place}: the column ${twice} stands there twice`);
  if (!columns.includes("name")) throw bad(`${place}: the column name is missing`);
  if (!columns.includes("token") && !columns.includes("token_file"))
    throw bad(`${place}: the column token, or token_file, is missing`);
  return columns;
}

/** Gives the reason where the cells cannot be used. */
function readCells({ name = "", token = "", token_file: file = "", tags }: NamedCells) {
  if (!companyName.safeParse(name).success)
    return "the name becomes a file name: it has letters, digits, - and _ only, at most 64, and begins with a letter or digit";
  if ((token === "") === (file === ""))
    return token === "" ? "it has no token" : "it has both a token and a token_file: leave one empty";
  const [, kind = "file", place = file] = /^(?:\$\{)?(env|file):([^{}]+)\}?$/.exec(token) ?? [];
  if (place === "")
    return "the token itself does not belong into the list: write ${env:NAME} or ${file:/path}";
  if (kind === "file" && !path.isAbsolute(place))
    return "the file with the token needs its absolute path: workers read it on other machines";
  const read = tags === undefined ? null : readTags(tags);
  return tags !== undefined && read === null ? tagForm : { name, token: `\${${kind}:${place}}`, tags: read };
}
