import { keyOf, type PublishedOperation, type Reference } from "./reference.ts";
import { compareAnswer, type Comparison } from "./operation-comparison.ts";
import { shapeOf } from "./schema-shape.ts";
import type { Operation } from "../operation.ts";
import type { Resource } from "../resource.ts";

type Param = readonly [name: string, value: string | number | null];

/** One request of the mirror: null stands for any value, the answer is what it reads. */
interface Reading {
  readonly path: string;
  readonly params: readonly Param[];
  readonly answer: Operation["answer"];
}

/** What the mirror asks for night after night, held against what the reference takes and answers. */
export function comparePlan(resource: Resource, known: ReadonlySet<string>, on: Comparison): void {
  for (const { path, params, answer } of readingsOf(resource)) {
    const theirs = on.reference.operations.get(keyOf("GET", path));
    const where = `GET ${theirs?.path ?? path}`;
    if (theirs) {
      for (const [name, value] of params) compareParameter(theirs, name, value, where, on);
      const { origin } = resource;
      compareAnswer({ name: where, method: "GET", path, origin, status: 200, answer }, theirs, where, on);
    } else if (!known.has(keyOf("GET", path))) on.tell("breaking", where, "is not in the reference");
  }
}

function readingsOf(resource: Resource): readonly Reading[] {
  const { detail, pdf, record } = resource;
  const readings = listReadings(resource);
  if (detail !== undefined)
    readings.push({ path: detail, params: [], answer: { kind: "record", schema: record } });
  if (pdf !== undefined) {
    readings.push({ path: pdf, params: [], answer: { kind: "file", mediaType: "application/pdf" } });
  }
  return readings;
}

function listReadings({ list, record, preview }: Resource): Reading[] {
  if (list.kind === "owned") return [];
  const { path } = list;
  if (list.kind === "single") return [{ path, params: [], answer: { kind: "record", schema: record } }];
  const answer = { kind: "list", schema: preview ?? record, paged: list.kind !== "whole" } as const;
  if (list.kind === "whole") {
    const variants = list.variants?.values.map((value) => [list.variants?.param ?? "", value] as const);
    return [{ path, params: variants ?? [], answer }];
  }
  const own: readonly Param[] =
    list.kind === "paged" ? Object.entries(list.params) : list.parents.map(({ param }) => [param, null]);
  return [{ path, params: [["perPage", list.perPage], ["page", 1], ...own], answer }];
}

function compareParameter(
  theirs: PublishedOperation,
  name: string,
  value: Param[1],
  where: string,
  { reference, tell }: Comparison,
): void {
  const parameter = theirs.parameters.find((one) => one["in"] === "query" && one["name"] === name);
  const problem = parameter ? problemWith(parameter["schema"], value, reference) : "is not in the reference";
  if (problem !== null) tell("breaking", `${where} ?${name}`, problem);
}

function problemWith(schema: unknown, value: Param[1], { resolve }: Reference): string | null {
  const { values, limits } = shapeOf(schema, resolve);
  if (typeof value === "string" && values && !values.includes(value)) {
    return `the reference lacks the value ${value}`;
  }
  const most = limits["maximum"] ?? Infinity;
  if (typeof value !== "number" || value <= most) return null;
  return `the reference allows at most ${most}, the mirror asks for ${value}`;
}
