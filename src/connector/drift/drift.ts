import type { ConnectorDeclaration } from "../connector-declaration.ts";
import { connectorPlaces } from "./connector-places.ts";
import { lowerLimits, publishedPlace, readReference, routeKey, upperLimits } from "./openapi-places.ts";
import type { Place, PlaceFacts } from "./openapi-places.ts";

export interface Drift {
  /** `breaking`: the connector relies on something else. `addition`: the service has more. `note`: neither. */
  readonly severity: Severity;
  /** `GET /invoices ?sortBy`, `invoices.number` */
  readonly where: string;
  readonly what: string;
}

type Severity = (typeof severities)[number];
const severities = ["breaking", "addition", "note"] as const;

/**
 * Compares the connector with a published OpenAPI 3 reference, in both directions. Returns the differences, the
 * worst first. Throws MirrorError `usage` for anything that is no such document.
 */
export function compareWithReference(declaration: ConnectorDeclaration, document: unknown): Drift[] {
  const { operations, resolve } = readReference(document);
  const found = new Map<string, Drift>();
  const known = new Set<string>();
  for (const { where, place } of connectorPlaces(declaration)) {
    const theirs = operations.get(routeKey(where));
    known.add(routeKey(where));
    comparePlaces(place, theirs ? publishedPlace(theirs, where, place, resolve) : nothing, where, found);
  }
  for (const [key, { method, path }] of operations)
    if (!known.has(key)) comparePlaces(nothing, { facts: { it: "present" } }, `${method} ${path}`, found);
  const rank = ({ severity }: Drift) => severities.indexOf(severity);
  return [...found.values()].toSorted((a, b) => rank(a) - rank(b));
}

const nothing: Place = { facts: {} };
const noPlaces: ReadonlyMap<string, Place> = new Map();

/** Compares a place and those within it, as far as the connector describes them. A fact is reported once. */
function comparePlaces(ours: Place, theirs: Place, at: string, found: Map<string, Drift>): void {
  const isAll = !ours.isPartial;
  const named = typeof ours.name === "string" ? ours.name : at;
  for (const name of new Set([...Object.keys(ours.facts), ...(isAll ? Object.keys(theirs.facts) : [])])) {
    const [mine, published] = [ours.facts[name], theirs.facts[name]];
    if (mine === published) continue;
    const severity = severityOf(name, ours, theirs);
    if (severity === "breaking" || (severity !== null && isAll)) {
      const where = name === "it" || name === "content" ? at : named;
      const what = `${name} is ${published ?? "absent"} in the reference, ${mine ?? "absent"} in the connector`;
      const key = `${severity} ${where} ${name} ${published}`;
      if (!found.has(key)) found.set(key, { severity, where, what });
    }
    if (name === "it" && (mine === undefined || published === undefined)) return;
    if (severity !== null && (name === "type" || name === "content")) return;
  }
  const [inner, published] = [ours.inner?.() ?? noPlaces, theirs.inner?.() ?? noPlaces];
  if (inner.size === 0) return;
  for (const key of new Set([...inner.keys(), ...(isAll ? published.keys() : [])]))
    comparePlaces(inner.get(key) ?? nothing, published.get(key) ?? nothing, named + key, found);
}

/** How much it matters that only one side says something of a place, or that they say different things. */
type SeverityRule = Readonly<Record<"ours" | "theirs" | "both", Severity | null>>;

const requestRules: Readonly<Record<string, SeverityRule>> = {
  type: { ours: "note", theirs: null, both: "breaking" },
  content: { ours: "breaking", theirs: "addition", both: "breaking" },
  null: { ours: "breaking", theirs: "addition", both: null },
  "list of values": { ours: "addition", theirs: "breaking", both: null },
  value: { ours: "breaking", theirs: "addition", both: null },
  // The reference often leaves a format out.
  format: { ours: null, theirs: "note", both: "breaking" },
  limit: { ours: "addition", theirs: "breaking", both: "addition" },
  path: { ours: null, theirs: null, both: "note" },
  deprecated: { ours: null, theirs: "note", both: null },
};

const answerRules: typeof requestRules = {
  ...requestRules,
  null: { ours: "note", theirs: "breaking", both: null },
  "list of values": { ours: "note", theirs: "addition", both: null },
  limit: { ours: null, theirs: null, both: null },
};

/** How much a difference matters; null for one that does not. `name` is the fact that differs. */
function severityOf(name: string, ours: Place, theirs: Place): Severity | null {
  const [mine, published] = [ours.facts[name], theirs.facts[name]];
  if (name === "it") return severityOfIt(mine, published);
  const isLimit = upperLimits.has(name) || lowerLimits.has(name);
  const isValue = name.startsWith("value ");
  // Single values are compared where both sides list them, and without those that the reference need not list.
  if (isValue && (mine === "unlisted" || !listsValues(theirs) || (mine === undefined && !listsValues(ours))))
    return null;
  if (name === "list of values" && mine === "") return null;
  const rules = ours.isAnswer ? answerRules : requestRules;
  const rule = rules[isLimit ? "limit" : isValue ? "value" : name];
  if (mine === undefined) return rule?.theirs ?? null;
  if (published === undefined) return rule?.ours ?? null;
  const isTighter = upperLimits.has(name) ? published < mine : published > mine;
  return isLimit && isTighter && !ours.isAnswer ? "breaking" : (rule?.both ?? null);
}

function severityOfIt(mine: PlaceFacts[string], published: PlaceFacts[string]): Severity | null {
  if (published === undefined) return mine === "unexpected" ? null : "breaking";
  if (mine === "unexpected" || (published === "required" && mine !== "present")) return "breaking";
  if (mine === undefined) return "addition";
  return mine === "required" ? "note" : null;
}

function listsValues({ facts }: Place): boolean {
  return facts["list of values"] !== undefined;
}
