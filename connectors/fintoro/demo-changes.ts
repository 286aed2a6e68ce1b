import type { Transport } from "../../src/connector/transport.ts";
import { createClient, type FintoroClient } from "./client/client.ts";

/** One thing that happens to a company; the record it can be seen on afterwards. */
interface Change {
  make(): Promise<{ readonly summary: string; readonly table: string; readonly id: number }>;
}

/** What a morning does to a company, each through the API; looked up beforehand, so that making it is one write. */
export async function demoChanges(transport: Transport): Promise<readonly Change[]> {
  const client = createClient(transport);
  const [buyer] = await client.clients.list();
  if (!buyer) return [];
  const { data: invoices } = await client.invoices.list({ perPage: 50 });
  const unpaid = invoices.find((preview) => preview.toBePaid > 0);
  const gone = invoices.find((preview) => preview.id !== unpaid?.id);
  return [
    { make: () => writeInvoice(client, buyer) },
    ...(unpaid ? [{ make: () => pay(client, unpaid) }] : []),
    { make: () => newAddress(client, buyer) },
    ...(gone ? [{ make: () => remove(client, gone) }] : []),
  ];
}

type Buyer = Awaited<ReturnType<FintoroClient["clients"]["list"]>>[number];

interface Invoice {
  readonly id: number;
  readonly number: string;
}

async function writeInvoice({ invoices }: FintoroClient, buyer: Buyer) {
  const items = [{ name: "Ranná konzultácia", quantity: 2, unitPrice: 80, vatRate: 23 }];
  const { id, number } = await invoices.create({ clientId: buyer.id, items });
  return { summary: `invoice ${number} was written for ${buyer.name}`, table: "invoices", id };
}

async function pay({ documentPayments }: FintoroClient, { id, number }: Invoice) {
  await documentPayments.create({ documentType: "invoice", documentId: id });
  return { summary: `invoice ${number} was paid`, table: "invoices", id };
}

async function newAddress({ clients }: FintoroClient, buyer: Buyer) {
  const email = nextEmail(buyer.email ?? "");
  await clients.update(buyer.id, { ...inputOf(buyer), email });
  return { summary: `${buyer.name} has a new e-mail address`, table: "clients", id: buyer.id };
}

async function remove({ invoices }: FintoroClient, { id, number }: Invoice) {
  await invoices.delete(id);
  return { summary: `invoice ${number} was deleted`, table: "invoices", id };
}

/** Another one each time. */
function nextEmail(email: string): string {
  const count = Number(/^nove(\d+)@/.exec(email)?.[1] ?? 0);
  return `nove${count + 1}@example.com`;
}

/** A PUT is the whole record: what is left out would be cleared. */
function inputOf(client: Buyer) {
  const { name, type, subjectId, taxId, vatId, isVatPayer, street, city, zip, country } = client;
  return {
    name,
    subjectId,
    taxId,
    vatId,
    isVatPayer,
    street,
    city,
    zip,
    type: type === "company" ? ("company" as const) : ("person" as const),
    countryId: country?.id ?? null,
  };
}
