import { resourceNamed, type Manifest } from "../connector/manifest.ts";
import type { Resource } from "../connector/resource.ts";
import type { Runs } from "./runs.ts";

/**
 * When a resource was last read whole, ISO; null: never. What has no list of its own is as fresh as the
 * stalest of what brings it.
 */
export function sweptAt(manifest: Manifest, resource: Resource, runs: Runs): string | null {
  const { list } = resource;
  if (list.kind === "owned" || list.kind === "parents") {
    const sources = list.kind === "owned" ? list.by : list.parents;
    return earliest(sources.map((one) => sweptAt(manifest, resourceNamed(manifest, one.resource), runs)));
  }
  const variants = (list.kind === "whole" ? list.variants?.values : undefined) ?? [""];
  const keys = variants.map((variant) => (variant === "" ? resource.name : `${resource.name}:${variant}`));
  return earliest(keys.map((key) => runs.lastSwept(key)));
}

function earliest(times: readonly (string | null)[]): string | null {
  if (times.includes(null)) return null;
  return times.reduce((a, b) => (a === null || (b !== null && b < a) ? b : a), null);
}
