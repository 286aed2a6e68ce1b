import type { SeededRandom } from "../base/seeded-random.ts";
import type { Company, RecordOf, Tables } from "../model/company-state.ts";
import { Missing } from "../rules/problems.ts";

/** A person at work in a company, who chooses records by seeded random. */
export class Actor {
  readonly company: Company;
  readonly random: SeededRandom;

  constructor(company: Company, random: SeededRandom) {
    this.company = company;
    this.random = random;
  }

  /** Some live record that passes the test, old ones far more often than new ones, or null. */
  find<K extends keyof Tables>(table: K, test: (record: RecordOf<K>) => boolean = () => true) {
    const records: Tables[K] = this.company.tables[table];
    const { firstId, nextId } = records;
    for (let tries = 0; tries < 8; tries++) {
      const place = Math.floor(this.random.next() * this.random.next() * (nextId - firstId));
      const record = records.get(firstId + place);
      if (record && test(record)) return record;
    }
    const all = [...(records.values() as Iterable<RecordOf<K>>)].filter(test);
    return all.length === 0 ? null : this.random.pick(all);
  }

  /** @throws Missing where no live record passes the test */
  any<K extends keyof Tables>(table: K, test?: (record: RecordOf<K>) => boolean): RecordOf<K> {
    const record = this.find(table, test);
    if (!record) throw new Missing();
    return record;
  }
}
