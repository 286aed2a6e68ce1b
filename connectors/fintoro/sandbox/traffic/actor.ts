import type { Company, Tables } from "../domain/company-state.ts";
import type { SeededRandom } from "../base/seeded-random.ts";
import type { TableName } from "../model/catalogue.ts";
import { Invalid, Missing } from "../rules/refusals.ts";
import type { Router } from "../routes/router.ts";
import { writeInside } from "../routes/write-inside.ts";

/** Somebody who works in a company: by its rules, and by chance where there is a choice. */
export class Hand {
  readonly company: Company;
  readonly chance: SeededRandom;
  readonly #router: Router;

  constructor(router: Router, company: Company, chance: SeededRandom) {
    this.#router = router;
    this.company = company;
    this.chance = chance;
  }

  create(table: TableName, input: unknown): number {
    return Number(writeInside(this.#router, this.company, "POST", table, null, input)["id"]);
  }

  update(table: TableName, id: number, input: unknown): void {
    writeInside(this.#router, this.company, "PUT", table, id, input);
  }

  remove(table: TableName, id: number): void {
    writeInside(this.#router, this.company, "DELETE", table, id, {});
  }

  /** A live record of the table; throws `Missing` where there is none. */
  any(table: keyof Tables): number {
    const ids = [...this.company.tables[table].ids()];
    if (ids.length === 0) throw new Missing();
    return this.chance.pick(ids);
  }

  /** Tries `act` with one record after another, in an order of chance, until the rules allow it. */
  withAny(table: keyof Tables, act: (id: number) => void): number {
    const ids = [...this.company.tables[table].ids()];
    let refusal: unknown = new Missing();
    for (let tries = 0; tries < mostTries && ids.length > 0; tries++) {
      const [id = 0] = ids.splice(this.chance.int(0, ids.length - 1), 1);
      try {
        act(id);
        return id;
      } catch (cause) {
        if (!isRefusal(cause)) throw cause;
        refusal = cause;
      }
    }
    throw refusal;
  }
}

const mostTries = 60;

/** The service's own no: what was asked is against its rules, or there is nothing to do it to. */
export function isRefusal(cause: unknown): cause is Invalid | Missing {
  return cause instanceof Invalid || cause instanceof Missing;
}
