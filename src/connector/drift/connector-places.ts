import { z } from "zod";
import { paginator } from "../client/page.ts";
import type { ConnectorDeclaration } from "../connector-declaration.ts";
import type { Operation } from "../operation.ts";
import { knownFact, originalOf } from "../record-schema.ts";
import type { Resource } from "../resource.ts";
import { parameterNames, routeKey, schemaPlace, type Place, type SchemaObject } from "./openapi-places.ts";

type SchemaOf = (type: z.ZodType) => SchemaObject;

/** The operations of a connector, then the requests that the mirror makes for its resources. */
export function connectorPlaces(declaration: ConnectorDeclaration) {
  const schemaOf = schemaReader(declaration);
  const paths = new Map(
    declaration.operations.map((one) => [routeKey(`${one.method} ${one.path}`), one.path]),
  );
  const operations = declaration.operations.map((one) => {
    return { where: `${one.method} ${one.path}`, place: operationPlace(one, schemaOf) };
  });
  const requests = declaration.resources.flatMap(requestsFor).map(({ parameters, answer, path }) => {
    const inner = new Map(Object.entries(parameters).map(([name, value]) => [` ?${name}`, sentPlace(value)]));
    inner.set(" answer 200", contentPlace(answer, schemaOf));
    const place = { facts: { it: "present" }, isPartial: true, inner: () => inner };
    return { where: `GET ${paths.get(routeKey(`GET ${path}`)) ?? path}`, place };
  });
  return [...operations, ...requests];
}

function operationPlace(
  { path, query, body, bodyType, idempotent, status, answer }: Operation,
  schemaOf: SchemaOf,
): Place {
  const parameters = query ? schemaPlace(schemaOf(query), Object, {}, false).inner?.() : undefined;
  const inner = new Map([...(parameters ?? [])].map(([name, place]) => [` ?${name.slice(1)}`, place]));
  for (const name of parameterNames(path))
    inner.set(` ${name}`, { facts: { type: "integer" }, isPartial: true });
  if (idempotent) inner.set(" Idempotency-Key", { facts: { it: "present" }, isPartial: true });
  const content = bodyType === "multipart" ? "multipart/form-data" : "application/json";
  if (body) inner.set(" body", schemaPlace(schemaOf(body), Object, { it: "present", content }, false));
  inner.set(` answer ${status}`, contentPlace(answer, schemaOf));
  return { facts: { it: "present", path }, inner: () => inner };
}

type OperationAnswer = Operation["answer"];

function contentPlace(answer: OperationAnswer, schemaOf: SchemaOf): Place {
  const it = "present";
  if (answer.kind === "nothing") return { facts: { it }, isAnswer: true };
  if (answer.kind === "file") return { facts: { it, content: answer.mediaType }, isAnswer: true };
  const facts = { it, content: "application/json" };
  if (answer.kind === "record") return schemaPlace(schemaOf(answer.schema), Object, facts, true);
  // A list that begins to come in pages breaks the connector: reading one answer would miss the rest.
  const content = { data: z.array(answer.schema), paginator: answer.paged ? paginator : z.never() };
  return schemaPlace(schemaOf(z.looseObject(content)), Object, facts, true);
}

type MirrorRequest = {
  readonly path: string;
  readonly parameters: SentParameters;
  readonly answer: OperationAnswer;
};
type SentParameters = Readonly<Record<string, string | number>>;

function requestsFor({ list, detail, files, record, preview }: Resource): MirrorRequest[] {
  const one: OperationAnswer = { kind: "record", schema: record };
  const many: OperationAnswer = { kind: "list", schema: preview ?? record, paged: list.kind !== "whole" };
  const requests: MirrorRequest[] = [];
  if (list.kind !== "owned")
    for (const parameters of listParameters(list))
      requests.push({ path: list.path, parameters, answer: list.kind === "single" ? one : many });
  if (detail !== undefined) requests.push({ path: detail, parameters: {}, answer: one });
  if (files)
    requests.push({ path: files.path, parameters: {}, answer: { kind: "file", mediaType: files.mediaType } });
  return requests;
}

/** The parameters of each request for a list; 1 stands for any page and any parent's id. */
function listParameters(list: Exclude<Resource["list"], { kind: "owned" }>): readonly SentParameters[] {
  if (list.kind === "paged") return [{ perPage: list.perPage, page: 1, ...list.params }];
  if (list.kind === "walked") return [{ page: 1, ...list.params }];
  if (list.kind === "parents")
    return list.parents.map(({ param }) => ({ perPage: list.perPage, page: 1, [param]: 1 }));
  const variants = list.kind === "whole" ? list.variants : undefined;
  return variants ? variants.values.map((value) => ({ [variants.param]: value })) : [{}];
}

function sentPlace(value: string | number): Place {
  const sent =
    typeof value === "number" ? { minimum: value, maximum: value } : { [`value ${value}`]: "present" };
  return { facts: { it: "present", ...sent }, isPartial: true };
}

type SchemaContext = Parameters<NonNullable<z.core.ToJSONSchemaParams["override"]>>[0];

/**
 * Reads the connector's types as JSON schemas, with what the comparison needs besides: a record's name
 * (`recordName`), the connector's events, and what the facts of a field say more exactly than its zod type.
 */
function schemaReader(declaration: ConnectorDeclaration): SchemaOf {
  const names = new Map<z.ZodType, string>();
  for (const { name, record, preview } of declaration.resources) {
    names.set(originalOf(record), name);
    if (preview) names.set(originalOf(preview), `${name} (preview)`);
  }
  const events = declaration.events.map((rule) => rule.type);
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
