import { lookupHas, type LookupName } from "../lookups/lookup-lists.ts";
import type { MessageKey, Problem } from "./messages.ts";

/** The request was understood and refused: 422 with a message for each field. */
export class Invalid extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(`invalid: ${problems.map(({ field, key }) => `${field} ${key}`).join(", ")}`);
    this.name = "Invalid";
    this.problems = problems;
  }
}

/** No such record in this company: 404. */
export class Missing extends Error {
  constructor() {
    super("No query results for model.");
    this.name = "Missing";
  }
}

type Identified = { readonly id: number };

/** Collects the problems of a request, so that one answer names them all. */
export class Problems {
  readonly #list: Problem[] = [];

  add(field: string, key: MessageKey, values?: Problem["values"]): void {
    this.#list.push(values === undefined ? { field, key } : { field, key, values });
  }

  /** Adds the problem unless `holds`. */
  expect(holds: boolean, field: string, key: MessageKey, values?: Problem["values"]): void {
    if (!holds) this.add(field, key, values);
  }

  /** Adds the problem `unique` if another record than `own` is among those with the same value. */
  expectUnique(field: string, same: readonly Identified[], own: Identified | null): void {
    const others = same.filter(({ id }) => id !== own?.id);
    this.expect(others.length === 0, field, "unique");
  }

  /** @throws Invalid if there is a problem */
  throwIfAny(): void {
    if (this.#list.length > 0) throw new Invalid(this.#list);
  }
}

/** Runs the checks and refuses the request with all problems that they found. */
export function check(checks: (problems: Problems) => void): void {
  const problems = new Problems();
  checks(problems);
  problems.throwIfAny();
}

/** Refuses the request for one reason. */
export function refuse(field: string, key: MessageKey, values?: Problem["values"]): never {
  throw new Invalid([values === undefined ? { field, key } : { field, key, values }]);
}

/** Fields of requests that name a lookup value, and the lookup. */
const lookupOf: Readonly<Record<string, LookupName>> = {
  countryId: "countries",
  deliveryCountryId: "countries",
  bankId: "banks",
  unitId: "units",
  currencyId: "currencies",
  languageId: "languages",
  deliveryMethodId: "delivery-methods",
  paymentMethodId: "payment-methods",
  qrTypeId: "qr-types",
  preferredDeliveryMethodId: "delivery-methods",
  preferredPaymentMethodId: "payment-methods",
  preferredCurrencyId: "currencies",
  preferredLanguageId: "languages",
};

/** Adds a problem for every field of the input that names an unknown lookup value. */
export function expectLookups(problems: Problems, input: object, prefix = ""): void {
  for (const [field, value] of Object.entries(input)) {
    const name = lookupOf[field];
    if (!name || typeof value !== "number") continue;
    problems.expect(lookupHas(name, value), `${prefix}${field}`, "exists");
  }
}
