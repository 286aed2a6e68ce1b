import type { Drift, Tell } from "./schema-comparison.ts";
import { keyOf, readReference } from "./reference.ts";
import { compareOperation, tellUnknown } from "./operation-comparison.ts";
import { describeFor } from "./own-schemas.ts";
import { comparePlan } from "./list-comparison.ts";
import type { Manifest } from "../connector-manifest.ts";

export type { Drift } from "./schema-comparison.ts";

const gravity: readonly Drift["severity"][] = ["breaking", "addition", "note"];

/**
 * The connector against a published OpenAPI reference, in both directions. Empty when the two agree;
 * the worst first. Throws `usage` for anything that is no OpenAPI 3 document.
 */
export function compareWithReference(manifest: Manifest, document: unknown): Drift[] {
  const reference = readReference(document);
  const found = new Map<string, Drift>();
  const tell: Tell = (severity, where, what) => {
    const key = `${where}\n${what}`;
    if (!found.has(key)) found.set(key, { severity, where, what });
  };
  const on = { reference, describe: describeFor(manifest), tell };
  const known = new Set(manifest.operations.map((one) => keyOf(one.method, one.path)));
  for (const operation of manifest.operations) compareOperation(operation, on);
  for (const resource of manifest.resources) comparePlan(resource, known, on);
  tellUnknown(known, on);
  return [...found.values()].toSorted((a, b) => gravity.indexOf(a.severity) - gravity.indexOf(b.severity));
}
