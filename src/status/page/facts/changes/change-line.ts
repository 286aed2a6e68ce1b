import type { Change } from "../../../../store/apply/change-reader.ts";
import { cut } from "../../markup/html.ts";

/** A change as people read it. */
export interface ChangeLine extends Pick<Change, "seq" | "resource" | "recordId" | "op" | "at" | "cause"> {
  /** What the record calls itself: a number or a name; null: nothing. */
  readonly label: string | null;
  /** The first of the fields that differ. */
  readonly fields: readonly FieldChange[];
  /** How many more differ. */
  readonly moreFields: number;
}

/** A field that differs; null: it holds more than one value, or was not there. */
interface FieldChange {
  readonly name: string;
  readonly before: string | null;
  readonly after: string | null;
}

const mostFields = 3;
const mostCharacters = 60;
/** Fields by which people know a record, the best first. */
const labelFields = ["number", "name", "title", "subject"];

/** Takes a change apart. Pure. */
export function changeLine({ seq, resource, recordId, op, at, cause, before, after }: Change): ChangeLine {
  const [was, is] = [fieldsOf(before), fieldsOf(after)];
  const names = op === "update" ? Object.keys({ ...was, ...is }) : [];
  const different = names.filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]));
  const fields = different.slice(0, mostFields).map((name) => ({
    name,
    before: shown(was[name]),
    after: shown(is[name]),
  }));
  const moreFields = different.length - fields.length;
  return { seq, resource, recordId, op, at, cause, label: labelOf({ ...was, ...is }), fields, moreFields };
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(json: string | null): Fields {
  try {
    const value: unknown = JSON.parse(json ?? "{}");
    return typeof value === "object" && value !== null ? (value as Fields) : {};
  } catch {
    return {};
  }
}

function labelOf(fields: Fields): string | null {
  const values = labelFields.map((name) => fields[name]);
  const label = values.find((value): value is string => typeof value === "string" && value !== "");
  return label === undefined ? null : cut(label, mostCharacters);
}

function shown(value: unknown): string | null {
  if (value === undefined || (typeof value === "object" && value !== null)) return null;
  if (value === null || value === "") return "empty";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return cut(text, mostCharacters);
}
