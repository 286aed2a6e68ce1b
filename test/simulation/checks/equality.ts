import { differences, liveRows, rowDifferences } from "../../support/truth/compare.ts";
import { expectedRow, type Dict, type TrueRecord } from "../../support/truth/truth.ts";
import { amounts } from "../service/record-texts.ts";
import { recordsNow } from "../service/service-truth.ts";
import { tableNames, type TableName } from "../service/service-types.ts";
import type { Check } from "./mirror-contents.ts";

/**
 * I11: every record of the service is here, in every column, part and byte, and nothing else. A record that no list
 * shows may be absent; of what is here of it, only the existence is compared.
 */
export const unequal: Check = (mirror, { service }) =>
  tableNames.flatMap((table) => {
    const held = mirror.records(table);
    const truth = new Map<string, TrueRecord>();
    for (const [id, { detail, listed, reordered }] of recordsNow(service, table)) {
      const { json = null, isDeleted = true } = held.get(id) ?? {};
      if (listed === null && isDeleted) continue;
      // Of one that no list shows, and in the other order of its keys, what is here is as good.
      const text = (listed === null || json === reordered ? json : null) ?? detail;
      truth.set(String(id), { text, json: contentOf(text) });
    }
    return differences(mirror.db, new Map([[table, truth]])).map((what) => `I11 ${what}`);
  });

function contentOf(json: string): Dict {
  return JSON.parse(json, readValue) as Dict;
}

/** Amounts as numbers; an empty map, which PHP writes as a list, as nothing. */
function readValue(key: string, value: unknown): unknown {
  if (typeof value === "string" && amounts.has(key)) return Number(value);
  return key === "metadata" && Array.isArray(value) && value.length === 0 ? {} : value;
}

const cellsOf = (table: TableName, json: string) => expectedRow(table, contentOf(json)).cells;

const listedTables = tableNames.filter(
  (name) => name !== "document_payments" && name !== "contact_activity_logs",
);

/**
 * I11: after a usual run at rest each listed record is here, in all that lists show, and nothing else. What only details show
 * may be older. Columns of which the mirror knows that lists show them otherwise are not judged.
 */
export const unlikeLists: Check = (mirror, { service }) => {
  const sql = `SELECT resource || '.' || field FROM _preview_differences GROUP BY resource, field HAVING count(*) > 3`;
  const uncompared = new Set(mirror.column(sql));
  return listedTables.flatMap((table) => {
    const records = recordsNow(service, table);
    const live = liveRows(mirror.db, table);
    const extra = [...live.keys()]
      .filter((id) => !records.has(Number(id)))
      .map((id) => `I11 ${table} ${id}: live here after a usual run, not at the service`);
    const wrong = [...records].flatMap(([id, { detail, listed }]) => {
      if (listed === null) return [];
      const cells = cellsOf(table, listed);
      const isShown = (name: string) =>
        Object.hasOwn(cells, name) || cells[name.replace(/_id$/, "")] === null;
      const isJudged = (name: string) =>
        !uncompared.has(`${table}.${name}`) && (detail === listed || isShown(name));
      const row = live.get(String(id));
      const what = row ? rowDifferences(row, cellsOf(table, detail), isJudged) : ["missing"];
      return what.map((one) => `I11 after a usual run, ${table} ${id}: ${one}`);
    });
    return [...extra, ...wrong];
  });
};

/**
 * I11: after a usual run at rest a CRM event that was last changed before its invoice shows the invoice as it is. Where reads
 * lag behind, its own may show the invoice as it was before; what a read for another record's event finds out about the
 * invoice is followed no further; and one that was read while its invoice was deleted names none. Then the scrub finds it.
 */
export const unlikeItsInvoice: Check = (mirror, { service }) => {
  if (service.options.lag !== "none") return [];
  const { changes } = mirror;
  const records = recordsNow(service, "contact_activity_logs");
  const lastOf = (table: TableName, id: number) =>
    changes.findLastIndex((one) => one.resource === table && one.id === id);
  return [...mirror.records("contact_activity_logs").values()].flatMap(({ id, isDeleted, json }) => {
    const now = records.get(id);
    if (isDeleted || json === null || !now) return [];
    const here = shownDocument(json);
    if (!here || JSON.stringify(here) === JSON.stringify(shownDocument(now.detail))) return [];
    const last = lastOf("invoices", here.documentId);
    const isLater = last > lastOf("contact_activity_logs", id);
    if (!isLater || changes[last]?.cause === "webhook") return [];
    return [
      `I11 contact_activity_logs ${id}: shows invoice ${here.documentId} as it was before its last change`,
    ];
  });
};

interface ShownDocument {
  readonly documentId: number;
  readonly totalWithVat: number | string;
}

/** The document that a CRM event shows; the service may write amounts as text. */
function shownDocument(json: string): ShownDocument | null {
  const { metadata } = JSON.parse(json) as { readonly metadata: { relatedDocument?: ShownDocument | null } };
  const document = metadata.relatedDocument;
  return document ? { ...document, totalWithVat: Number(document.totalWithVat) } : null;
}
