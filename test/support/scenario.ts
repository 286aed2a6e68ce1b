import type { Control } from "../../connectors/fintoro/sandbox/control.ts";
import type { TableName } from "../../connectors/fintoro/sandbox/model/catalogue.ts";
import { Invalid, Missing } from "../../connectors/fintoro/sandbox/rules/refusals.ts";
import type { Random } from "../../src/base/random.ts";
import type { Company } from "./open-company.ts";
import { jsonReply, type Breakage, type Reply } from "./proxy.ts";

/** Chance with a memory of nothing but its seed. */
export interface Dice {
  chance(probability: number): boolean;
  below(limit: number): number;
  one<T>(list: readonly T[]): T;
}

export function diceOf(random: Random): Dice {
  const below = (limit: number) => Math.floor(random.next() * limit);
  return {
    below,
    chance: (probability) => random.next() < probability,
    one: (list) => {
      const thing = list[below(list.length)];
      if (thing === undefined) throw new Error("broken promise: there is something to choose from");
      return thing;
    },
  };
}

type Mutation = (control: Control, dice: Dice) => void;

function someId(control: Control, dice: Dice, table: TableName): number {
  const ids = [...(control.snapshot().get(table)?.keys() ?? [])];
  if (ids.length === 0) throw new Missing();
  return dice.one(ids);
}

const removable = [
  "orders",
  "quotations",
  "invoices",
  "credit_notes",
  "proformas",
  "suppliers",
  "clients",
] as const;
const others = [
  "business_cases",
  "business_case_statuses",
  "document_payments",
  "contact_activity_logs",
] as const;
const documents = ["orders", "quotations", "invoices", "credit_notes", "proformas"] as const;

const mutations: readonly Mutation[] = [
  (control, dice) => control.remove(dice.one(removable), someId(control, dice, dice.one(removable))),
  (control, dice) => {
    const table = dice.one([...removable, ...others]);
    control.remove(table, someId(control, dice, table));
  },
  (control, dice) => void control.create("suppliers", { name: `Dodávateľ ${dice.below(1_000)} 🌲` }),
  (control, dice) =>
    void control.create("clients", { name: `=Klient "${dice.below(1_000)}"`, type: "company" }),
  (control, dice) =>
    void control.create("business_case_statuses", { name: `Stav ${dice.below(99)}`, color: "#00ff00" }),
  (control, dice) => {
    const clientId = someId(control, dice, "clients");
    void control.create("business_cases", { name: `Prípad ${dice.below(99)}`, clientId });
  },
  (control, dice) => {
    const clientId = someId(control, dice, "clients");
    void control.create("contact_activity_logs", {
      clientId,
      type: "note",
      metadata: { content: "Volal\nznova" },
    });
  },
  (control, dice) => {
    const table = dice.one(documents);
    control.alter(table, someId(control, dice, table), { issueDate: `2026-11-0${1 + dice.below(9)}` });
  },
  (control, dice) => {
    const table = dice.one(documents);
    control.alter(table, someId(control, dice, table), { note: `Poznámka ${dice.below(1_000)}` });
  },
  (control, dice) =>
    control.alter("clients", someId(control, dice, "clients"), { name: `Iné meno ${dice.below(99)}` }),
  (control, dice) =>
    control.alter("price_list_items", someId(control, dice, "price_list_items"), { ean: null }),
  (control, dice) => control.setToday(`2026-12-${10 + dice.below(20)}`),
  (control, dice) => control.rename(`Firma ${dice.below(9)}`),
];

/** Something happens in the service; what its rules forbid does not. */
export function mutate({ sandbox }: Company, dice: Dice): void {
  try {
    dice.one(mutations)(sandbox.control, dice);
  } catch (error) {
    if (!(error instanceof Invalid || error instanceof Missing)) throw error;
  }
}

export const hiccups: readonly (() => Reply | Breakage)[] = [
  () => jsonReply(500, { message: "Server Error" }),
  () => jsonReply(503, { message: "Service Unavailable" }),
  () => "reset",
  () => "half",
  () => jsonReply(200, '{"data":[{"id":1,"na'),
  () => ({ status: 200, headers: { "content-type": "text/html" }, body: Buffer.from("<h1>Soon</h1>") }),
];
