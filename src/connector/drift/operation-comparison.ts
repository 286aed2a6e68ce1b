import { z } from "zod";
import { keyOf, objectAt, type JsonObject, type PublishedOperation, type Reference } from "./reference.ts";
import { compareSchemas, type Tell } from "./schema-comparison.ts";
import type { Describe } from "./own-schemas.ts";
import type { Operation } from "../operation.ts";
import { paginator } from "../client/page.ts";

export interface Comparison {
  readonly reference: Reference;
  readonly describe: Describe;
  readonly tell: Tell;
}

/** One operation: its address, what it takes, what it answers. */
export function compareOperation(ours: Operation, comparison: Comparison): void {
  const { reference, tell } = comparison;
  const where = `${ours.method} ${ours.path}`;
  const theirs = reference.operations.get(keyOf(ours.method, ours.path));
  if (!theirs) {
    tell("breaking", where, "is not in the reference");
    return;
  }
  if (theirs.facts["deprecated"] === true) tell("note", where, "is deprecated in the reference");
  comparePath(ours, theirs, where, comparison);
  compareQuery(ours, theirs, where, comparison);
  compareHeaders(ours, theirs, where, tell);
  compareBody(ours, theirs, where, comparison);
  compareAnswer(ours, theirs, where, comparison);
}

function comparePath(ours: Operation, theirs: PublishedOperation, where: string, on: Comparison): void {
  if (ours.path !== theirs.path) on.tell("note", where, `is written ${theirs.path} in the reference`);
  for (const parameter of theirs.parameters.filter((one) => one["in"] === "path")) {
    const field = `${where} {${String(parameter["name"])}}`;
    const integer = { type: "integer" };
    compareSchemas(integer, withoutLimits(parameter["schema"], on), field, requestSides(on));
  }
}

/** Ids are whole numbers from 1 anyway. */
function withoutLimits(schema: unknown, { reference }: Comparison): JsonObject {
  const { minimum: _, exclusiveMinimum: __, ...rest } = reference.resolve(schema);
  return rest;
}

function requestSides({ reference, tell }: Comparison) {
  return { direction: "request", resolve: reference.resolve, tell } as const;
}

function compareQuery(ours: Operation, theirs: PublishedOperation, where: string, on: Comparison): void {
  const parameters = theirs.parameters.filter((one) => one["in"] === "query");
  const names = parameters.map((one) => String(one["name"]));
  const published = {
    type: "object",
    properties: Object.fromEntries(parameters.map((one) => [String(one["name"]), objectAt(one, "schema")])),
    required: names.filter((_, index) => parameters[index]?.["required"] === true),
  };
  const mine = on.describe(ours.query ?? z.object({}));
  if (ours.query) compareSchemas(mine, published, `${where} ?`, requestSides(on));
  else for (const name of names) tellParameter(name, published.required.includes(name), where, on.tell);
}

function tellParameter(name: string, isRequired: boolean, where: string, tell: Tell): void {
  tell(isRequired ? "breaking" : "addition", `${where} ?${name}`, "is new in the reference");
}

/** Sent by the transport with every request. */
const everySent = new Set(["authorization", "accept", "accept-language", "content-type"]);

function compareHeaders(ours: Operation, theirs: PublishedOperation, where: string, tell: Tell): void {
  const headers = theirs.parameters.filter((one) => one["in"] === "header");
  const isTaken = headers.some((one) => String(one["name"]).toLowerCase() === "idempotency-key");
  const field = `${where} Idempotency-Key`;
  if (ours.idempotent && !isTaken) tell("breaking", field, "is not taken by the reference");
  if (!ours.idempotent && isTaken) tell("addition", field, "is taken by the reference");
  for (const header of headers) {
    const name = String(header["name"]);
    if (everySent.has(name.toLowerCase()) || name.toLowerCase() === "idempotency-key") continue;
    tell(
      header["required"] === true ? "breaking" : "addition",
      `${where} ${name}`,
      "is a header the connector does not send",
    );
  }
}

function compareBody(ours: Operation, theirs: PublishedOperation, where: string, on: Comparison): void {
  const field = `${where} body`;
  const body = on.reference.resolve(theirs.facts["requestBody"]);
  const content = objectAt(body, "content");
  const isThere = Object.keys(content).length > 0;
  if (!ours.body) {
    if (isThere)
      on.tell(body["required"] === true ? "breaking" : "addition", field, "is new in the reference");
    return;
  }
  const mediaType = ours.bodyType === "multipart" ? "multipart/form-data" : "application/json";
  const schema = schemaOf(content, mediaType);
  if (!isThere) on.tell("breaking", field, "is not in the reference");
  else if (!schema) on.tell("breaking", field, `is not ${mediaType} in the reference`);
  else compareSchemas(on.describe(ours.body), schema, field, requestSides(on));
}

function schemaOf(content: JsonObject, mediaType: string): unknown {
  const entry = Object.entries(content).find(
    ([type]) => type.split(";")[0]?.trim().toLowerCase() === mediaType,
  );
  return entry ? objectAt(content, entry[0])["schema"] : undefined;
}

export function compareAnswer(
  ours: Operation,
  theirs: PublishedOperation,
  where: string,
  on: Comparison,
): void {
  const responses = objectAt(theirs.facts, "responses");
  const successes = Object.keys(responses).filter((status) => status.startsWith("2"));
  const status = String(ours.status);
  if (!successes.includes(status) && !successes.includes("2XX")) {
    const said = successes.join(", ") || "no success";
    on.tell("breaking", where, `answers with ${said} in the reference, ${status} in the connector`);
    return;
  }
  for (const other of successes.filter((one) => one !== status && one !== "2XX")) {
    on.tell("addition", where, `may also answer with ${other} in the reference`);
  }
  const answer = on.reference.resolve(responses[status] ?? responses["2XX"]);
  compareContent(ours, objectAt(answer, "content"), where, on);
}

function compareContent(ours: Operation, content: JsonObject, where: string, on: Comparison): void {
  const expected = ours.answer;
  if (expected.kind === "nothing") {
    if (Object.keys(content).length > 0) on.tell("addition", where, "answers with a body in the reference");
    return;
  }
  const mediaType = expected.kind === "file" ? expected.mediaType : "application/json";
  const schema = schemaOf(content, mediaType);
  if (schema === undefined) on.tell("breaking", where, `does not answer with ${mediaType} in the reference`);
  else if (expected.kind === "record") compareRecord(expected.schema, schema, where, on);
  else if (expected.kind === "list") compareList(expected, schema, where, on);
}

function compareRecord(ours: z.ZodType, schema: unknown, where: string, on: Comparison): void {
  const sides = { direction: "answer", resolve: on.reference.resolve, tell: on.tell } as const;
  compareSchemas(on.describe(ours), schema, `${where} answer`, sides);
}

type ListAnswer = Extract<Operation["answer"], { kind: "list" }>;

/** A list that begins to come in pages is no addition: reading one answer would miss the rest. */
function compareList(expected: ListAnswer, schema: unknown, where: string, on: Comparison): void {
  const wrapper = { data: z.array(expected.schema) };
  const ours = expected.paged ? z.looseObject({ ...wrapper, paginator }) : z.looseObject(wrapper);
  const tell: Tell = (severity, at, what) => {
    const isPagedNow = !expected.paged && at === `${where} answer.paginator`;
    if (isPagedNow) on.tell("breaking", where, "comes in pages in the reference");
    else on.tell(severity, at, what);
  };
  compareRecord(ours, schema, where, { ...on, tell });
}

/** What the reference has and the connector does not. */
export function tellUnknown(known: ReadonlySet<string>, { reference, tell }: Comparison): void {
  for (const [key, { method, path }] of reference.operations) {
    if (!known.has(key)) tell("addition", `${method} ${path}`, "is new in the reference");
  }
}
