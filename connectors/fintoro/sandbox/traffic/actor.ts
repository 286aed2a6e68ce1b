import type { SeededRandom } from "../base/seeded-random.ts";
import type { JsonObject } from "../base/values.ts";
import type { Company, RecordOf, Tables } from "../domain/company-state.ts";
import { english } from "../lookups/languages.ts";
import { collections, type TableName } from "../model/catalogue.ts";
import type { Method, Router } from "../routes/router.ts";
import { Invalid, Missing } from "../rules/problems.ts";

/** Records that are tried before an action counts as refused. */
const mostTries = 60;

/** A person at work in a company: writes by the API's own rules, and chooses records by seeded random. */
export class Actor {
  readonly company: Company;
  readonly random: SeededRandom;
  readonly #router: Router;

  constructor(router: Router, company: Company, random: SeededRandom) {
    this.#router = router;
    this.company = company;
    this.random = random;
  }

  /**
   * Calls the route's own handler, so that nothing is written that a client could not write.
   *
   * @param id null for a new record
   * @returns the record as the answer shows it; an empty object for a deletion
   * @throws Invalid (422), Missing (404)
   */
  write(method: "POST" | "PUT" | "DELETE", table: TableName, id: number | null, input: unknown): JsonObject {
    const { company } = this;
    const path = `/${collections[table].path}${id === null ? "" : `/${id}`}`;
    const methods: readonly Method[] = [method, "PATCH"];
    const match = methods.map((one) => this.#router(one, path)).find((found) => "route" in found);
    if (!match || !("route" in match)) throw new Error(`broken promise: ${method} ${path} is a route`);
    const call = { company, language: english, id: match.id, query: {}, input, files: [], shuffle: null };
    const { body } = match.route.handle(call);
    return body.kind === "record" ? body.record : {};
  }

  /** Gives the new record's id. */
  create(table: TableName, input: unknown): number {
    return Number(this.write("POST", table, null, input)["id"]);
  }

  /** Some live record that passes the test, or null. */
  find<K extends keyof Tables>(table: K, test: (record: RecordOf<K>) => boolean = () => true) {
    const records = [...this.company.tables[table].values()].filter(test);
    return records.length === 0 ? null : this.random.pick(records);
  }

  /** @throws Missing where no live record passes the test */
  any<K extends keyof Tables>(table: K, test?: (record: RecordOf<K>) => boolean): RecordOf<K> {
    const record = this.find(table, test);
    if (!record) throw new Missing();
    return record;
  }

  /** Tries `act` with one record after another, in random order, until the rules allow it. */
  withAny<T>(table: keyof Tables, act: (id: number) => T): T {
    const ids = [...this.company.tables[table].ids()];
    let refusal: unknown = new Missing();
    for (let tries = 0; tries < mostTries && ids.length > 0; tries++) {
      const [id = 0] = ids.splice(this.random.int(0, ids.length - 1), 1);
      try {
        return act(id);
      } catch (cause) {
        if (!isRefusedByRules(cause)) throw cause;
        refusal = cause;
      }
    }
    throw refusal;
  }
}

/** Is it the service's own refusal: against its rules, or there is no such record? */
export function isRefusedByRules(cause: unknown): cause is Invalid | Missing {
  return cause instanceof Invalid || cause instanceof Missing;
}
