import { lowerLimits, shapeOf, upperLimits, type Resolve, type Shape } from "./schema-shape.ts";
import type { JsonObject } from "./reference.ts";

export interface Drift {
  /** `breaking`: what the mirror counts on is not so. `addition`: the service has more. `note`: neither. */
  readonly severity: "breaking" | "addition" | "note";
  /** `GET /invoices ?sortBy`, `invoices.number` */
  readonly where: string;
  readonly what: string;
}

export type Tell = (severity: Drift["severity"], where: string, what: string) => void;

/** Which way the value travels: what we send must be taken, what we get must be understood. */
type Direction = "request" | "answer";

export interface Sides {
  readonly direction: Direction;
  readonly resolve: Resolve;
  readonly tell: Tell;
}

const asIs: Resolve = (schema) =>
  typeof schema === "object" && schema !== null ? (schema as JsonObject) : {};

/** Goes down along the connector's own type, which ends; the reference's may not. */
export function compareSchemas(ourSchema: unknown, theirSchema: unknown, at: string, sides: Sides): void {
  const ours = shapeOf(ourSchema, asIs);
  const theirs = shapeOf(theirSchema, sides.resolve);
  const where = ours.name ?? at;
  if (!compareTypes(ours, theirs, where, sides)) return;
  compareNull(ours, theirs, where, sides);
  compareValues(ours, theirs, where, sides);
  compareFormat(ours, theirs, where, sides);
  if (sides.direction === "request") compareLimits(ours, theirs, where, sides.tell);
  compareProperties(ours, theirs, where, sides);
  if (ours.items && theirs.items) compareSchemas(ours.items, theirs.items, `${where}[]`, sides);
}

function compareTypes(ours: Shape, theirs: Shape, where: string, { tell }: Sides): boolean {
  const [mine, published] = [[...ours.types].toSorted().join("|"), [...theirs.types].toSorted().join("|")];
  if (mine === published || mine === "") return true;
  if (published === "") tell("note", where, `the reference does not say its type; the connector has ${mine}`);
  else tell("breaking", where, `is ${published} in the reference, ${mine} in the connector`);
  return false;
}

function compareNull(ours: Shape, theirs: Shape, where: string, { direction, tell }: Sides): void {
  if (ours.nullable === theirs.nullable) return;
  if (direction === "request") {
    if (ours.nullable) tell("breaking", where, "takes no null in the reference");
    else tell("addition", where, "takes null in the reference");
  } else if (theirs.nullable) tell("breaking", where, "may be null in the reference");
  else tell("note", where, "is never null in the reference");
}

function compareValues(ours: Shape, theirs: Shape, where: string, { direction, tell }: Sides): void {
  const expected = ours.values?.filter((value) => !ours.unlisted.includes(value)) ?? [];
  if (!theirs.values) {
    if (expected.length === 0) return;
    tell(direction === "request" ? "addition" : "note", where, "has no list of values in the reference");
    return;
  }
  if (!ours.values) {
    const severity = direction === "request" ? "breaking" : "addition";
    tell(severity, where, `has only these values in the reference: ${theirs.values.join(", ")}`);
    return;
  }
  for (const value of theirs.values) {
    if (!ours.values.includes(value)) tell("addition", where, `the reference has the value ${value}`);
  }
  for (const value of expected) {
    if (!theirs.values.includes(value)) tell("breaking", where, `the reference lacks the value ${value}`);
  }
}

const dated = new Set(["date", "date-time"]);

/** Where the reference leaves a date unsaid the connector may know better; the other way it missed one. */
function compareFormat(ours: Shape, theirs: Shape, where: string, { tell }: Sides): void {
  if (ours.format === theirs.format || theirs.format === null || !dated.has(theirs.format)) return;
  const isOther = ours.format !== null && dated.has(ours.format);
  const mine = isOther ? ours.format : "plain text";
  tell(
    isOther ? "breaking" : "note",
    where,
    `is a ${theirs.format} in the reference, ${mine} in the connector`,
  );
}

function compareLimits(ours: Shape, theirs: Shape, where: string, tell: Tell): void {
  for (const name of upperLimits) compareLimit(name, (mine, published) => published < mine, Infinity);
  for (const name of lowerLimits) compareLimit(name, (mine, published) => published > mine, -Infinity);

  function compareLimit(name: string, isTighter: (mine: number, published: number) => boolean, none: number) {
    const [mine, published] = [ours.limits[name] ?? none, theirs.limits[name] ?? none];
    if (mine === published) return;
    const severity = isTighter(mine, published) ? "breaking" : "addition";
    tell(
      severity,
      where,
      `${name} is ${limitText(published)} in the reference, ${limitText(mine)} in the connector`,
    );
  }
}

function limitText(limit: number): string {
  return Number.isFinite(limit) ? String(limit) : "not set";
}

function compareProperties(ours: Shape, theirs: Shape, where: string, sides: Sides): void {
  if (ours.properties.size === 0) return;
  for (const [name, schema] of ours.properties) {
    const field = joined(where, name);
    const published = theirs.properties.get(name);
    if (!published) {
      sides.tell("breaking", field, "is not in the reference");
      continue;
    }
    compareSchemas(schema, published, field, sides);
    if (sides.direction === "request") compareRequired(name, ours, theirs, field, sides.tell);
  }
  for (const name of theirs.properties.keys()) {
    if (!ours.properties.has(name)) tellNew(name, theirs, joined(where, name), sides);
  }
}

function tellNew(name: string, theirs: Shape, field: string, { direction, tell }: Sides): void {
  const isDemanded = direction === "request" && theirs.required.has(name);
  tell(
    isDemanded ? "breaking" : "addition",
    field,
    isDemanded ? "is required by the reference, the connector does not know it" : "is new in the reference",
  );
}

function compareRequired(name: string, ours: Shape, theirs: Shape, field: string, tell: Tell): void {
  const [mine, published] = [ours.required.has(name), theirs.required.has(name)];
  if (published && !mine) tell("breaking", field, "is required in the reference");
  if (mine && !published) tell("note", field, "is optional in the reference");
}

/** A query parameter is said `GET /invoices ?sortBy`, a field `invoices.number`. */
function joined(where: string, name: string): string {
  return where.endsWith("?") ? `${where}${name}` : `${where}.${name}`;
}
