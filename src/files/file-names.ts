import type { RecordId } from "../base/ids.ts";

/** Bytes of a name, at most: file systems take 255, and a folder is copied into deeper ones. */
const mostBytes = 180;

/** Names that Windows takes for devices, whatever follows behind a dot. */
const devices = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d¹²³])$/i;

/**
 * A name from outside as the name of a file that every system takes: no separator, control or invisible character, no
 * device, no dot or space where it would hide or lose them; in one normal form, and not too long.
 *
 * @param suffix stands behind the name, before its ending; it is never cut
 */
export function safeFileName(text: string, ending = "", suffix = ""): string {
  const tail = clean(suffix + ending).replace(/[. ]+$/, "");
  const stem = clean(text).replace(/^[. -]+|\s+$/gu, "");
  const cut = cutToBytes(stem, mostBytes - Buffer.byteLength(tail)).trimEnd();
  const name = `${cut}${tail}`.replace(/^[. ]+|[. ]+$/g, "");
  if (name === "" || cut === "") return `file${tail}`;
  return devices.test(name.split(".")[0]?.trimEnd() ?? "") ? `_${name}` : name;
}

/** Without what a system, a terminal or a person takes for something else. */
function clean(text: string): string {
  return text
    .toWellFormed()
    .normalize("NFC")
    .replace(/[/\\:]/g, "-")
    .replace(/[\p{C}\p{Zl}\p{Zp}<>"|?*\ufffd]/gu, " ")
    .replace(/\s+/gu, " ");
}

/** The longest beginning of so many bytes, without a part of a character. */
function cutToBytes(text: string, bytes: number): string {
  let used = 0;
  let cut = "";
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += Buffer.byteLength(segment);
    if (used > bytes) return cut;
    cut += segment;
  }
  return text;
}

interface FiledAs {
  readonly document: string;
  readonly id: RecordId;
  /** The document's day; null or anything else than a date: it is filed as undated. */
  readonly date: string | null;
  /** What names it, such as number and client. */
  readonly words: readonly (string | null)[];
  /** Of a file that has a name of its own. */
  readonly ownName: string | null;
}

/**
 * Pure: where a file is filed, relative to the company's folder: `2026/10/invoices/2026063 Servis s. r. o..pdf`.
 *
 * @param isTaken is the place another file's?
 */
export function archivePath(filed: FiledAs, ending: string, isTaken: (path: string) => boolean): string {
  const { document, id, date, words, ownName } = filed;
  const [, year, month] = /^(\d{4})-(\d\d)(?!\d)/.exec(date ?? "") ?? [];
  const folder = year === undefined ? `undated/${document}` : `${year}/${month}/${document}`;
  // A longer one is a part of the name.
  const own = ownName === null ? ending : (/\.[A-Za-z0-9]{1,10}$/.exec(ownName)?.[0] ?? "");
  const stem = ownName === null ? null : ownName.slice(0, ownName.length - own.length);
  const named = words.filter((word) => word !== null && word.trim() !== "");
  const text = [...(named.length === 0 || stem !== null ? [String(id)] : []), ...named, stem]
    .filter((word) => word !== null)
    .join(" ");
  for (let number = 0; ; number++) {
    const suffix = number === 0 ? "" : number === 1 ? ` [${id}]` : ` [${id}] (${number})`;
    const path = `${folder}/${safeFileName(text, own, suffix)}`;
    if (!isTaken(path)) return path;
  }
}

/** Equal for paths that some file system takes for one. */
export function pathKey(path: string): string {
  return path.normalize("NFKC").toUpperCase().toLowerCase();
}
