import type { Transport } from "../../src/connector/transport.ts";
import { createClient } from "./client/client.ts";

/** What a morning does to a company, done through the API; each sentence tells one change. */
export async function changeSomething(transport: Transport): Promise<readonly string[]> {
  const client = createClient(transport);
  const clients = await client.clients.list();
  const buyer = clients[0];
  if (!buyer) return [];
  const invoice = await client.invoices.create({
    clientId: buyer.id,
    items: [{ name: "Ranná konzultácia", quantity: 2, unitPrice: 80, vatRate: 23 }],
  });
  const told = [`invoice ${invoice.number} was written for ${buyer.name}`];
  const { data: invoices } = await client.invoices.list({ perPage: 50 });
  const others = invoices.filter((preview) => preview.id !== invoice.id);
  const paid = others.find((preview) => preview.toBePaid > 0);
  const gone = others.find((preview) => preview.id !== paid?.id);
  if (paid) {
    await client.documentPayments.create({ documentType: "invoice", documentId: paid.id });
    told.push(`invoice ${paid.number} was paid`);
  }
  await client.clients.update(buyer.id, { ...inputOf(buyer), email: "novy@example.com" });
  told.push(`${buyer.name} has a new e-mail address`);
  if (gone) {
    await client.invoices.delete(gone.id);
    told.push(`invoice ${gone.number} was deleted`);
  }
  return told;
}

type Clients = Awaited<ReturnType<ReturnType<typeof createClient>["clients"]["list"]>>;

/** A PUT is the whole record: what is left out would be cleared. */
function inputOf(client: Clients[number]) {
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
