import { balanceOf } from "../domain/documents/payment-rules.ts";
import { trigger } from "./actions.ts";
import type { Actor } from "./actor.ts";

/** One change of `demo`, ready to be made. */
export interface DemoChange {
  /** Makes it; gives a sentence about it, and the record whose row in the mirror shows it. */
  make(): { readonly sentence: string; readonly table: string; readonly id: number };
}

/** What `demo` does to a company: writes an invoice, pays one, changes a client and deletes an invoice. */
export function demoChanges(actor: Actor): readonly DemoChange[] {
  const { clients, invoices } = actor.company.tables;
  const known = [...invoices.values()].toReversed();
  const unpaid = known.find((invoice) => balanceOf(actor.company, invoice).toBePaid > 0n);
  const other = known.find(({ id }) => id !== unpaid?.id);
  const change = (event: string, id: number | null, sentence: (id: number) => string): DemoChange => ({
    make: () => {
      const [table = ""] = event.split(".");
      const { id: changed } = trigger(actor, event, id);
      return { sentence: sentence(changed), table, id: changed };
    },
  });
  const written = (id: number) => {
    const invoice = invoices.get(id);
    return `invoice ${invoice?.number} was written for ${invoice?.client.name}`;
  };
  return [
    change("invoices.created", null, written),
    ...(unpaid ? [change("invoices.paid", unpaid.id, () => `invoice ${unpaid.number} was paid`)] : []),
    change("clients.updated", null, (id) => `${clients.get(id)?.name} has a new address`),
    ...(other ? [change("invoices.deleted", other.id, () => `invoice ${other.number} was deleted`)] : []),
  ];
}
