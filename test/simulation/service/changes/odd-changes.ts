import type { Oddity } from "../../scenarios/scenario.ts";
import type { ChangeContext } from "./change-context.ts";

/** Ids of malformed records: no other record has them. */
const firstMalformedId = 900_000;

/** The service shows or sends what nobody expects; gives what, for the story. */
export function makeOdd(context: ChangeContext, what: Oddity): string {
  const detail = makers[what](context);
  return detail === "" ? what : `${what}: ${detail}`;
}

const makers: Readonly<Record<Oddity, (context: ChangeContext) => string>> = {
  "event of an unknown type": ({ company, choice }) => {
    company.emit("loyalty-points.granted", "loyaltyPoint", 1 + choice.below(99));
    return "";
  },
  "event without a route": ({ company, choice }) => {
    company.emit("received-invoices.paid", "receivedInvoice", 1 + choice.below(99));
    return "";
  },
  // Its body is the sender's.
  "unreadable event": () => "",
  "long number": ({ company }) => {
    company.state.hasLongNumbers = !company.state.hasLongNumbers;
    company.touch("clients");
    company.publish();
    return String(company.state.hasLongNumbers);
  },
  "malformed record": (context) => writeMalformed(context, true),
  "record without an id": ({ company, choice }) => {
    const id = firstMalformedId + company.nextId("malformed");
    company.writeMalformed("clients", id, `{"name":"Nobody ${choice.below(1_000)}","type":"company"}`);
    return "";
  },
  "malformed record changed": (context) => writeMalformed(context, false),
  "company renamed": ({ company, choice }) => {
    company.state.name = `Acme ${choice.below(1_000)}`;
    company.touch("company", "invoices");
    company.publish();
    return company.state.name;
  },
};

/** A client whose name is no text; `isNew`: another one, else the same that was there before, if there was one. */
function writeMalformed({ company, choice }: ChangeContext, isNew: boolean): string {
  const known = [...company.malformed.ids("clients")].find((one) =>
    company.malformed.history("clients", one).at(-1)?.shown?.detail.startsWith('{"id"'),
  );
  const id = isNew || known === undefined ? firstMalformedId + company.nextId("malformed") : known;
  company.writeMalformed(
    "clients",
    id,
    `{"id":${id},"name":{"odd":${choice.below(1_000_000)}},"type":"company"}`,
  );
  return String(id);
}
