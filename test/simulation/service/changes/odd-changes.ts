import type { Oddity } from "../../scenarios/scenario.ts";
import type { Change, ChangeContext } from "./change-context.ts";
import { oddEvent, renameCompany, toggleUnknownField } from "./edits.ts";

/** Ids of malformed records: no other record has them. */
const firstMalformedId = 900_000;

/** The service shows or sends what nobody expects; gives what, for the story. */
export function makeOdd(context: ChangeContext, what: Oddity): string {
  const make = makers[what];
  return make ? (make(context) ?? what) : `${what}: ${writeMalformed(context, what)}`;
}

/** All but malformed records. */
const makers: Readonly<Partial<Record<Oddity, Change>>> = {
  // Its body is the sender's.
  "unreadable event": () => null,
  "odd event": oddEvent,
  "company renamed": renameCompany,
  "unknown field": toggleUnknownField,
};

/** A client without an id, or one whose name is no text: another one, or one that was there before with another name. */
function writeMalformed({ company, choice }: ChangeContext, what: Oddity): number {
  const { malformed } = company;
  const isKnown = (one: number) =>
    malformed.history("clients", one).at(-1)?.shown?.detail.startsWith('{"id"') === true;
  const known = what === "malformed record changed" ? [...malformed.ids("clients")].find(isKnown) : undefined;
  const id = known ?? firstMalformedId + company.nextId("malformed");
  const odd = choice.below(1_000_000);
  const text =
    what === "record without an id"
      ? `{"name":"Nobody ${odd}","type":"company"}`
      : `{"id":${id},"name":{"odd":${odd}},"type":"company"}`;
  company.writeMalformed("clients", id, text);
  return id;
}
