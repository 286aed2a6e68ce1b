import { allRecordsNow } from "../service/service-truth.ts";
import { rowMistakes } from "./expected-rows.ts";
import type { Check } from "./observation.ts";
import { recordsOf } from "./mirror-rows.ts";

/**
 * I11: every record of the service is here, in every column, part and byte, and nothing else. A record that no list
 * shows may be absent; of what is here of it, only the existence is compared.
 */
export const unequal: Check = (db, { service }) =>
  [...allRecordsNow(service)].flatMap(([table, records]) => {
    const here = new Map(recordsOf(db, table).map((one) => [one.id, one]));
    const listed = [...records].filter(([, { listed: text }]) => text !== null);
    const expected = new Map(listed.map(([id, { detail }]) => [id, detail]));
    for (const [id, { detail }] of records)
      if (!expected.has(id) && here.get(id)?.isDeleted === false)
        expected.set(id, here.get(id)?.json ?? detail);
    const wrong = [...expected].flatMap(([id, text]) => {
      const record = here.get(id);
      if (!record) return [];
      if (record.isDeleted) return [`${table} ${id}: deleted here, live at the service`];
      return record.json === text
        ? []
        : [`${table} ${id}: ${record.isProvisional ? "provisional" : "another version"}`];
    });
    const extra = [...here.values()]
      .filter(({ id, isDeleted }) => !isDeleted && !records.has(id))
      .map(({ id }) => `${table} ${id}: live here, not at the service`);
    return [...extra, ...wrong, ...rowMistakes(db, table, expected)].map((what) => `I11 ${what}`);
  });
