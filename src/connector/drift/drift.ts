import { z } from "zod";
import type { Manifest } from "../connector-manifest.ts";
import { knownFact, originalOf } from "../record-schema.ts";
import { compareRequests } from "./mirror-requests.ts";
import { compareOperation } from "./operation-comparison.ts";
import { readReference, routeKey, type JsonObject } from "./reference.ts";
import type { Drift, ReportDrift } from "./schema-comparison.ts";

export type { Drift } from "./schema-comparison.ts";

const severities: readonly Drift["severity"][] = ["breaking", "addition", "note"];

/**
 * Compares the connector with a published OpenAPI 3 reference, in both directions. Returns the differences, the
 * worst first. Throws MirrorError `usage` for anything that is no such document.
 */
export function compareWithReference(manifest: Manifest, document: unknown): Drift[] {
  const reference = readReference(document);
  const found = new Map<string, Drift>();
  const report: ReportDrift = (severity, where, what) => {
    const key = `${where}\n${what}`;
    if (!found.has(key)) found.set(key, { severity, where, what });
  };
  const on = { reference, schemaOf: schemaReader(manifest), report };
  const ours = manifest.operations.map((one) => [routeKey(one.method, one.path), one] as const);
  const known = new Set(ours.map(([key]) => key));
  for (const [key, operation] of ours) {
    const theirs = reference.operations.get(key);
    if (theirs) compareOperation(operation, theirs, on);
    else report("breaking", `${operation.method} ${operation.path}`, "is not in the reference");
  }
  for (const resource of manifest.resources) compareRequests(resource, known, on);
  for (const [key, { method, path }] of reference.operations)
    if (!known.has(key)) report("addition", `${method} ${path}`, "is new in the reference");
  return [...found.values()].toSorted(
    (a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity),
  );
}

type SchemaContext = Parameters<NonNullable<z.core.ToJSONSchemaParams["override"]>>[0];

/**
 * Reads the connector's types as JSON schemas, with what the comparison needs besides: a record's name
 * (`recordName`), the manifest's events, and what the facts of a field say more exactly than its zod type.
 */
function schemaReader(manifest: Manifest): (type: z.ZodType) => JsonObject {
  const names = recordNames(manifest);
  const events = manifest.events.map((rule) => rule.type);
  const override = ({ zodSchema, jsonSchema }: SchemaContext) => {
    if (!(zodSchema instanceof z.ZodType)) return;
    const recordName = names.get(originalOf(zodSchema));
    if (recordName !== undefined) Object.assign(jsonSchema, { recordName });
    if (jsonSchema["eventName"] === true) Object.assign(jsonSchema, { enum: events, recordName: "events" });
    // zod bounds every integer by 2^53: a limit of JavaScript, not of the service.
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    applyFacts(zodSchema, jsonSchema);
  };
  return (type) => z.toJSONSchema(type, { unrepresentable: "any", override });
}

function applyFacts(type: z.ZodType, schema: SchemaContext["jsonSchema"]): void {
  const fact = knownFact(type);
  if (fact?.shape !== "scalar" || type instanceof z.ZodOptional) return;
  if (fact.type === "date") schema.format = "date";
  if (fact.type === "timestamp") schema.format = "date-time";
  if (!fact.values) return;
  delete schema.anyOf;
  Object.assign(schema, { type: "string", enum: [...fact.values] });
}

function recordNames(manifest: Manifest): Map<z.ZodType, string> {
  const names = new Map<z.ZodType, string>();
  for (const { name, record, preview } of manifest.resources) {
    names.set(originalOf(record), name);
    if (preview) names.set(originalOf(preview), `${name} (preview)`);
  }
  return names;
}
