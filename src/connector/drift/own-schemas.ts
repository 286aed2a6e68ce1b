import { z } from "zod";
import { isObject } from "../../json/literal.ts";
import type { JsonObject } from "./reference.ts";
import type { Manifest } from "../connector-manifest.ts";
import { knownFact, originalOf } from "../record-schema.ts";

/**
 * The connector's own types as JSON schemas, with the two marks that a comparison needs: what a record
 * is called (`recordName`) and which values the reference need not list (`unlisted`).
 */
export type Describe = (schema: z.ZodType) => JsonObject;

const describers = new WeakMap<Manifest, Describe>();

export function describeFor(manifest: Manifest): Describe {
  const describe = describers.get(manifest) ?? makeDescribe(manifest);
  describers.set(manifest, describe);
  return describe;
}

function makeDescribe(manifest: Manifest): Describe {
  const names = recordNames(manifest);
  const events = manifest.events.map((rule) => rule.type);
  const override = ({
    zodSchema,
    jsonSchema,
  }: {
    zodSchema: unknown;
    jsonSchema: Record<string, unknown>;
  }) => {
    if (!(zodSchema instanceof z.ZodType)) return;
    const name = names.get(originalOf(zodSchema));
    if (name !== undefined) jsonSchema["recordName"] = name;
    if (jsonSchema["eventName"] === true) Object.assign(jsonSchema, { enum: events, recordName: "events" });
    restate(zodSchema, jsonSchema);
  };
  const known = new WeakMap<z.ZodType, JsonObject>();
  return (schema) => {
    const made: unknown = known.get(schema) ?? z.toJSONSchema(schema, { unrepresentable: "any", override });
    if (!isObject(made)) return {};
    known.set(schema, made);
    return made;
  };
}

/** What a fact says more exactly than its zod type: an open enum's values, a date that is plain text. */
function restate(schema: z.ZodType, json: Record<string, unknown>): void {
  withoutSafeRange(json);
  const fact = knownFact(schema);
  if (fact?.shape !== "scalar" || schema instanceof z.ZodOptional) return;
  if (fact.type === "date") json["format"] = "date";
  if (fact.type === "timestamp") json["format"] = "date-time";
  if (!fact.values) return;
  delete json["anyOf"];
  Object.assign(json, { type: "string", enum: [...fact.values] });
}

/** zod bounds every integer by 2^53; that is JavaScript's limit, not the service's. */
function withoutSafeRange(json: Record<string, unknown>): void {
  if (json["maximum"] === Number.MAX_SAFE_INTEGER) delete json["maximum"];
  if (json["minimum"] === Number.MIN_SAFE_INTEGER) delete json["minimum"];
}

function recordNames(manifest: Manifest): Map<z.ZodType, string> {
  const names = new Map<z.ZodType, string>();
  for (const resource of manifest.resources) {
    names.set(originalOf(resource.record), resource.name);
    if (resource.preview) names.set(originalOf(resource.preview), `${resource.name} (preview)`);
  }
  return names;
}
