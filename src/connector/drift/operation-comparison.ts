import { z } from "zod";
import { paginator } from "../client/page.ts";
import type { Operation } from "../operation.ts";
import { objectAt, type JsonObject, type PublishedOperation, type Reference } from "./reference.ts";
import { compareSchemas, type ReportDrift } from "./schema-comparison.ts";

/** What all comparisons of operations work with. */
export interface OperationContext {
  readonly reference: Reference;
  /** The JSON schema of a type of the connector. */
  readonly schemaOf: (type: z.ZodType) => JsonObject;
  readonly report: ReportDrift;
}

interface Pair extends OperationContext {
  readonly ours: Operation;
  readonly theirs: PublishedOperation;
  /** `GET /invoices` */
  readonly where: string;
}

/** Compares one operation: its address, what it takes, what it answers. */
export function compareOperation(ours: Operation, theirs: PublishedOperation, on: OperationContext): void {
  const where = `${ours.method} ${ours.path}`;
  const pair: Pair = { ...on, ours, theirs, where };
  if (theirs.facts["deprecated"] === true) on.report("note", where, "is deprecated in the reference");
  comparePath(pair);
  compareQuery(pair);
  compareHeaders(pair);
  compareBody(pair);
  compareAnswer(ours, theirs, where, on);
}

function parametersIn({ theirs }: Pair, place: "path" | "query" | "header") {
  const parameters = theirs.parameters.filter((one) => one["in"] === place);
  return parameters.map((one) => {
    return { name: String(one["name"]), schema: one["schema"], isRequired: one["required"] === true };
  });
}

function compareRequest(
  ours: JsonObject,
  theirs: unknown,
  at: string,
  { reference, report }: OperationContext,
) {
  compareSchemas(ours, theirs, at, { direction: "request", resolve: reference.resolve, report });
}

function comparePath(pair: Pair): void {
  const { ours, theirs, where, report, reference } = pair;
  if (ours.path !== theirs.path) report("note", where, `is written ${theirs.path} in the reference`);
  for (const { name, schema } of parametersIn(pair, "path")) {
    // Ids are whole numbers from 1 anyway.
    const { minimum: _, exclusiveMinimum: __, ...published } = reference.resolve(schema);
    compareRequest({ type: "integer" }, published, `${where} {${name}}`, pair);
  }
}

function compareQuery(pair: Pair): void {
  const { ours, where, report } = pair;
  const parameters = parametersIn(pair, "query");
  if (!ours.query) {
    for (const { name, isRequired } of parameters)
      report(isRequired ? "breaking" : "addition", `${where} ?${name}`, "is new in the reference");
    return;
  }
  const properties = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema ?? {}]));
  const required = parameters.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  compareRequest(pair.schemaOf(ours.query), { type: "object", properties, required }, `${where} ?`, pair);
}

/** Sent by the transport with every request. */
const alwaysSent = new Set(["authorization", "accept", "accept-language", "content-type"]);
const keyHeader = "idempotency-key";

function compareHeaders(pair: Pair): void {
  const { ours, where, report } = pair;
  const headers = parametersIn(pair, "header");
  const takesKey = headers.some(({ name }) => name.toLowerCase() === keyHeader);
  const keyField = `${where} Idempotency-Key`;
  if (ours.idempotent && !takesKey) report("breaking", keyField, "is not taken by the reference");
  if (!ours.idempotent && takesKey) report("addition", keyField, "is taken by the reference");
  for (const { name, isRequired } of headers) {
    if (alwaysSent.has(name.toLowerCase()) || name.toLowerCase() === keyHeader) continue;
    const what = "is a header the connector does not send";
    report(isRequired ? "breaking" : "addition", `${where} ${name}`, what);
  }
}

function compareBody(pair: Pair): void {
  const { ours, report } = pair;
  const field = `${pair.where} body`;
  const body = pair.reference.resolve(pair.theirs.facts["requestBody"]);
  const content = objectAt(body, "content");
  const isEmpty = Object.keys(content).length === 0;
  const mediaType = ours.bodyType === "multipart" ? "multipart/form-data" : "application/json";
  const schema = schemaFor(content, mediaType);
  if (!ours.body && isEmpty) return;
  if (!ours.body)
    report(body["required"] === true ? "breaking" : "addition", field, "is new in the reference");
  else if (isEmpty) report("breaking", field, "is not in the reference");
  else if (!schema) report("breaking", field, `is not ${mediaType} in the reference`);
  else compareRequest(pair.schemaOf(ours.body), schema, field, pair);
}

function schemaFor(content: JsonObject, mediaType: string): unknown {
  const isWanted = (type: string) => type.split(";")[0]?.trim().toLowerCase() === mediaType;
  const type = Object.keys(content).find(isWanted);
  return type === undefined ? undefined : objectAt(content, type)["schema"];
}

/** Compares what an operation answers. */
export function compareAnswer(
  { status, answer }: Pick<Operation, "status" | "answer">,
  { facts }: PublishedOperation,
  where: string,
  on: OperationContext,
): void {
  const responses = objectAt(facts, "responses");
  const successes = Object.keys(responses).filter((one) => one.startsWith("2"));
  const others = successes.filter((one) => one !== String(status) && one !== "2XX");
  if (others.length === successes.length) {
    const published = successes.join(", ") || "no success";
    return on.report(
      "breaking",
      where,
      `answers with ${published} in the reference, ${status} in the connector`,
    );
  }
  for (const other of others) on.report("addition", where, `may also answer with ${other} in the reference`);
  const response = on.reference.resolve(responses[status] ?? responses["2XX"]);
  compareContent(answer, objectAt(response, "content"), where, on);
}

type Answer = Operation["answer"];

function compareContent(answer: Answer, content: JsonObject, where: string, on: OperationContext): void {
  const isEmpty = Object.keys(content).length === 0;
  if (answer.kind === "nothing") {
    if (!isEmpty) on.report("addition", where, "answers with a body in the reference");
    return;
  }
  const mediaType = answer.kind === "file" ? answer.mediaType : "application/json";
  const schema = schemaFor(content, mediaType);
  if (schema === undefined)
    on.report("breaking", where, `does not answer with ${mediaType} in the reference`);
  else if (answer.kind !== "file") compareRecords(answer, schema, where, on);
}

type RecordAnswer = Extract<Answer, { kind: "record" | "list" }>;

/** A list that begins to come in pages is breaking: reading one answer would miss the rest. */
function compareRecords(answer: RecordAnswer, schema: unknown, where: string, on: OperationContext): void {
  const isWhole = answer.kind === "list" && !answer.paged;
  const report: ReportDrift = (severity, at, what) => {
    if (!isWhole || at !== `${where} answer.paginator`) on.report(severity, at, what);
    else on.report("breaking", where, "comes in pages in the reference");
  };
  const { resolve } = on.reference;
  compareSchemas(on.schemaOf(typeOf(answer)), schema, `${where} answer`, {
    direction: "answer",
    resolve,
    report,
  });
}

function typeOf(answer: RecordAnswer): z.ZodType {
  if (answer.kind === "record") return answer.schema;
  const data = z.array(answer.schema);
  return z.looseObject(answer.paged ? { data, paginator } : { data });
}
