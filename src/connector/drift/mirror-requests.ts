import type { Operation } from "../operation.ts";
import type { Resource } from "../resource.ts";
import { compareAnswer, type OperationContext } from "./operation-comparison.ts";
import { routeKey, type PublishedOperation, type Reference } from "./reference.ts";
import { shapeOf } from "./schema-shape.ts";

type Parameter = readonly [name: string, value: string | number | null];

/** A request that the mirror makes for a resource; a null value stands for any. */
interface MirrorRequest {
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly answer: Operation["answer"];
}

/** Compares the requests that the mirror makes for a resource. `known` are the routes of the operations. */
export function compareRequests(resource: Resource, known: ReadonlySet<string>, on: OperationContext): void {
  for (const { path, parameters, answer } of requestsFor(resource)) {
    const theirs = on.reference.operations.get(routeKey("GET", path));
    const where = `GET ${theirs?.path ?? path}`;
    if (theirs) {
      for (const [name, value] of parameters) {
        const problem = problemWith(theirs, name, value, on.reference);
        if (problem !== null) on.report("breaking", `${where} ?${name}`, problem);
      }
      compareAnswer({ status: 200, answer }, theirs, where, on);
    } else if (!known.has(routeKey("GET", path))) on.report("breaking", where, "is not in the reference");
  }
}

function requestsFor({ list, detail, pdf, record, preview }: Resource): MirrorRequest[] {
  const one = { kind: "record", schema: record } as const;
  const file = { kind: "file", mediaType: "application/pdf" } as const;
  const many = { kind: "list", schema: preview ?? record, paged: list.kind !== "whole" } as const;
  const requests: MirrorRequest[] = [];
  if (list.kind === "single") requests.push({ path: list.path, parameters: [], answer: one });
  else if (list.kind !== "owned")
    requests.push({ path: list.path, parameters: listParameters(list), answer: many });
  if (detail !== undefined) requests.push({ path: detail, parameters: [], answer: one });
  if (pdf !== undefined) requests.push({ path: pdf, parameters: [], answer: file });
  return requests;
}

type ManyPlan = Exclude<Resource["list"], { kind: "single" | "owned" }>;

function listParameters(list: ManyPlan): readonly Parameter[] {
  if (list.kind === "whole")
    return list.variants?.values.map((value) => [list.variants?.param ?? "", value] as const) ?? [];
  const own: readonly Parameter[] =
    list.kind === "paged" ? Object.entries(list.params) : list.parents.map(({ param }) => [param, null]);
  return [["perPage", list.perPage], ["page", 1], ...own];
}

function problemWith(
  theirs: PublishedOperation,
  name: string,
  value: Parameter[1],
  { resolve }: Reference,
): string | null {
  const parameter = theirs.parameters.find((one) => one["in"] === "query" && one["name"] === name);
  if (!parameter) return "is not in the reference";
  const { values, limits } = shapeOf(parameter["schema"], resolve);
  if (typeof value === "string" && values && !values.includes(value))
    return `the reference lacks the value ${value}`;
  const most = limits["maximum"] ?? Infinity;
  if (typeof value !== "number" || value <= most) return null;
  return `the reference allows at most ${most}, the mirror asks for ${value}`;
}
