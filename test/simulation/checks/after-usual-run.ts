import { recordsNow } from "../service/service-truth.ts";
import { tableNames, type TableName } from "../service/service-types.ts";
import type { Check } from "./mirror-contents.ts";
import { shownMistakes } from "./equality.ts";

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
    const extra = [...mirror.records(table).values()]
      .filter(({ id, isDeleted }) => !isDeleted && !records.has(id))
      .map(({ id }) => `I11 ${table} ${id}: live here after a usual run, not at the service`);
    const isJudged = (column: string) => !uncompared.has(`${table}.${column}`);
    const wrong = shownMistakes(mirror.db, table, records, isJudged);
    return [...extra, ...wrong.map((what) => `I11 after a usual run, ${what}`)];
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
