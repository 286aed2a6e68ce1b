import type { Control } from "../sandbox/control.ts";
import type { TableName } from "../../../connectors/fintoro/sandbox/model/catalogue.ts";
import { Invalid, Missing } from "../../../connectors/fintoro/sandbox/rules/rules.ts";
import type { Random } from "../../../src/base/random.ts";
import type { Company } from "./open-company.ts";

export type SeededChoice = ReturnType<typeof seededChoice>;

/** Choices drawn from a random source. */
export function seededChoice(random: Random) {
  const below = (limit: number) => Math.floor(random.next() * limit);
  return {
    below,
    probability: (probability: number) => random.next() < probability,
    one: <T>(list: readonly T[]): T => {
      const thing = list[below(list.length)];
      if (thing === undefined) throw new Error("broken promise: there is something to choose from");
      return thing;
    },
  };
}

const documents = ["orders", "quotations", "invoices", "credit_notes", "proformas"] as const;
const people = ["suppliers", "clients"] as const;
const others = ["business_cases", "document_payments", "contact_activity_logs"] as const;

type Mutation = (control: Control, choice: SeededChoice) => void;

function someId(control: Control, choice: SeededChoice, table: TableName): number {
  const ids = [...(control.snapshot().get(table)?.keys() ?? [])];
  if (ids.length === 0) throw new Missing();
  return choice.one(ids);
}

const remove: Mutation = (control, choice) => {
  const table = choice.one([...documents, ...people, ...others]);
  control.remove(table, someId(control, choice, table));
};

const mutations: readonly Mutation[] = [
  remove,
  remove,
  (control, choice) => void control.create("suppliers", { name: `Dodávateľ ${choice.below(1_000)} 🌲` }),
  (control, choice) => {
    const clientId = someId(control, choice, "clients");
    void control.create("business_cases", { name: `Prípad ${choice.below(99)}`, clientId });
    const metadata = { content: "Volal\nznova" };
    void control.create("contact_activity_logs", { clientId, type: "note", metadata });
  },
  (control, choice) => {
    const table = choice.one(documents);
    const change = choice.one([
      { issueDate: `2026-11-0${1 + choice.below(9)}` },
      { note: `Poznámka ${choice.below(1_000)}` },
    ]);
    control.alter(table, someId(control, choice, table), change);
  },
  (control, choice) =>
    control.alter("clients", someId(control, choice, "clients"), { name: `=Klient "${choice.below(99)}"` }),
  (control, choice) => control.rename(`Firma ${choice.below(9)}`),
];

/** Makes a random change in the service, unless its rules refuse it. */
export function mutate({ sandbox }: Company, choice: SeededChoice): void {
  try {
    choice.one(mutations)(sandbox.control, choice);
  } catch (error) {
    if (!(error instanceof Invalid || error instanceof Missing)) throw error;
  }
}
