import { isObject } from "../../json/literal.ts";
import type { Reference } from "./reference.ts";
import { lowerLimits, shapeOf, upperLimits, type Shape } from "./schema-shape.ts";

/** One difference between the connector and the reference. */
export interface Drift {
  /** `breaking`: the connector relies on something else. `addition`: the service has more. `note`: neither. */
  readonly severity: "breaking" | "addition" | "note";
  /** `GET /invoices ?sortBy`, `invoices.number` */
  readonly where: string;
  readonly what: string;
}

/** Reports one difference. */
export type ReportDrift = (severity: Drift["severity"], where: string, what: string) => void;

/** In a `request` the reference must accept what the connector sends; an `answer` is the other way round. */
export interface SchemaContext {
  readonly direction: "request" | "answer";
  readonly resolve: Reference["resolve"];
  readonly report: ReportDrift;
}

interface Pair extends SchemaContext {
  readonly ours: Shape;
  readonly theirs: Shape;
  readonly where: string;
}

/** Compares a type of the connector with one of the reference, along the connector's: the other may not end. */
export function compareSchemas(
  ourSchema: unknown,
  theirSchema: unknown,
  at: string,
  on: SchemaContext,
): void {
  const ours = shapeOf(ourSchema, (schema) => (isObject(schema) ? schema : {}));
  const theirs = shapeOf(theirSchema, on.resolve);
  const where = ours.name ?? at;
  const pair: Pair = { ...on, ours, theirs, where };
  if (!compareTypes(pair)) return;
  if (ours.nullable !== theirs.nullable) reportNull(pair);
  compareValues(pair);
  compareFormat(pair);
  if (on.direction === "request") compareLimits(pair);
  if (ours.properties.size > 0) compareProperties(pair);
  if (ours.items && theirs.items) compareSchemas(ours.items, theirs.items, `${where}[]`, on);
}

/** False when there is nothing further to compare. */
function compareTypes({ ours, theirs, where, report }: Pair): boolean {
  const [mine, published] = [ours.types.toSorted().join("|"), theirs.types.toSorted().join("|")];
  if (mine === published || mine === "") return true;
  if (published === "")
    report("note", where, `the reference does not say its type; the connector has ${mine}`);
  else report("breaking", where, `is ${published} in the reference, ${mine} in the connector`);
  return false;
}

function reportNull({ ours, theirs, where, direction, report }: Pair): void {
  if (direction === "request" && ours.nullable) report("breaking", where, "takes no null in the reference");
  else if (direction === "request") report("addition", where, "takes null in the reference");
  else if (theirs.nullable) report("breaking", where, "may be null in the reference");
  else report("note", where, "is never null in the reference");
}

function compareValues({ ours, theirs, where, direction, report }: Pair): void {
  const isRequest = direction === "request";
  const [mine, published] = [ours.values ?? [], theirs.values ?? []];
  const expected = mine.filter((value) => !ours.unlisted.includes(value));
  if (ours.values && theirs.values) {
    for (const value of published)
      if (!mine.includes(value)) report("addition", where, `the reference has the value ${value}`);
    for (const value of expected)
      if (!published.includes(value)) report("breaking", where, `the reference lacks the value ${value}`);
  } else if (expected.length > 0)
    report(isRequest ? "addition" : "note", where, "has no list of values in the reference");
  else if (theirs.values) {
    const what = `has only these values in the reference: ${published.join(", ")}`;
    report(isRequest ? "breaking" : "addition", where, what);
  }
}

const dateFormats: ReadonlySet<string | null> = new Set(["date", "date-time"]);

/** A date that only the connector states is no difference: the reference often leaves it out. */
function compareFormat({ ours, theirs, where, report }: Pair): void {
  if (ours.format === theirs.format || !dateFormats.has(theirs.format)) return;
  const isDate = dateFormats.has(ours.format);
  const mine = isDate ? ours.format : "plain text";
  const what = `is a ${theirs.format} in the reference, ${mine} in the connector`;
  report(isDate ? "breaking" : "note", where, what);
}

function compareLimits({ ours, theirs, where, report }: Pair): void {
  for (const name of [...upperLimits, ...lowerLimits]) {
    const [mine, published] = [ours.limits[name], theirs.limits[name]];
    if (mine === published) continue;
    const isTighter = upperLimits.includes(name)
      ? (published ?? Infinity) < (mine ?? Infinity)
      : (published ?? -Infinity) > (mine ?? -Infinity);
    const what = `${name} is ${published ?? "not set"} in the reference, ${mine ?? "not set"} in the connector`;
    report(isTighter ? "breaking" : "addition", where, what);
  }
}

function compareProperties({ ours, theirs, where, ...on }: Pair): void {
  const isRequest = on.direction === "request";
  // A query parameter is `GET /invoices ?sortBy`, a field `invoices.number`.
  const prefix = where.endsWith("?") ? where : `${where}.`;
  for (const [name, schema] of ours.properties) {
    const published = theirs.properties.get(name);
    if (published) compareSchemas(schema, published, prefix + name, on);
    else on.report("breaking", prefix + name, "is not in the reference");
    if (!published || !isRequest || ours.required.includes(name) === theirs.required.includes(name)) continue;
    if (ours.required.includes(name)) on.report("note", prefix + name, "is optional in the reference");
    else on.report("breaking", prefix + name, "is required in the reference");
  }
  const unknown = [...theirs.properties.keys()].filter((name) => !ours.properties.has(name));
  for (const name of unknown) {
    const isDemanded = isRequest && theirs.required.includes(name);
    const what = isDemanded
      ? "is required by the reference, the connector does not know it"
      : "is new in the reference";
    on.report(isDemanded ? "breaking" : "addition", prefix + name, what);
  }
}
