import { recordsNow } from "../service/service-truth.ts";
import { tableNames } from "../service/service-types.ts";
import { rowMistakes } from "../../support/truth/compare.ts";
import { rowOf } from "./expected-rows.ts";
import type { Check } from "./mirror-contents.ts";

/**
 * I11: every record of the service is here, in every column, part and byte, and nothing else. A record that no list
 * shows may be absent; of what is here of it, only the existence is compared.
 */
export const unequal: Check = (mirror, { service }) =>
  tableNames.flatMap((table) => {
    const records = recordsNow(service, table);
    const held = mirror.records(table);
    const expected = new Map<number, string>();
    for (const [id, { detail, listed }] of records) {
      const here = held.get(id);
      if (listed !== null) expected.set(id, detail);
      else if (here && !here.isDeleted) expected.set(id, here.json ?? detail);
    }
    const wrong = [...expected].flatMap(([id, text]) => {
      const here = held.get(id);
      if (!here) return [];
      if (here.isDeleted) return [`${table} ${id}: deleted here, live at the service`];
      return here.json === text || here.json === records.get(id)?.reordered
        ? []
        : [`${table} ${id}: ${here.isProvisional ? "provisional" : "another version"}`];
    });
    const extra = [...held.values()]
      .filter(({ id, isDeleted }) => !isDeleted && !records.has(id))
      .map(({ id }) => `${table} ${id}: live here, not at the service`);
    const rows = new Map([...expected].map(([id, text]) => [String(id), rowOf(table, text)]));
    return [...extra, ...wrong, ...rowMistakes(mirror.db, table, rows)].map((what) => `I11 ${what}`);
  });
