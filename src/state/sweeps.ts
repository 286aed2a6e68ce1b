import { resourceNamed, type Manifest } from "../connector/connector-manifest.ts";
import type { Resource } from "../connector/resource.ts";
import type { Runs } from "./runs.ts";

/** One list: of a resource, or of one value of its list parameter. */
export interface ListRef {
  readonly resource: string;
  readonly variant: string;
}

/** One list, and when its last reading began. */
export interface BegunList extends ListRef {
  /** Epoch milliseconds. */
  readonly begunMs: number;
}

/** The name that a run's row knows a list by. */
export function sweepKey(resource: string, variant: string): string {
  return variant === "" ? resource : `${resource}:${variant}`;
}

/**
 * When a resource was last read whole, ISO; null: never. From the runs' own rows, which are written as each list
 * is closed: a run that was killed counts for what it had read. What has no list of its own is as fresh as the
 * stalest of what brings it.
 */
export function sweptAt(manifest: Manifest, resource: Resource, runs: Runs): string | null {
  const { list } = resource;
  if (list.kind === "owned" || list.kind === "parents") {
    const sources = list.kind === "owned" ? list.by : list.parents;
    return earliest(sources.map((one) => sweptAt(manifest, resourceNamed(manifest, one.resource), runs)));
  }
  const variants = (list.kind === "whole" ? list.variants?.values : undefined) ?? [""];
  const keys = variants.map((variant) => sweepKey(resource.name, variant));
  return earliest(keys.map((key) => runs.lastSwept(key)));
}

/** Of ISO times; null when one of them is missing. */
export function earliest(times: readonly (string | null)[]): string | null {
  if (times.includes(null)) return null;
  return times.reduce((a, b) => (a === null || (b !== null && b < a) ? b : a), null);
}
