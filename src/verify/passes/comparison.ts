import type { RecordId } from "../../base/ids.ts";
import type { Clock } from "../../base/clock.ts";
import type { Resource } from "../../connector/resource.ts";
import type { MirrorView } from "../compare/mirror-view.ts";
import type { ServiceReader } from "../service/service-reader.ts";

/** A read beyond the lists: a record's detail, or the list of a parent. */
export interface DeepRead {
  readonly resource: string;
  readonly id: RecordId;
  /** The resource whose list below the record is read; null: the record's own detail. */
  readonly listOf: string | null;
  /** When the mirror read it last, epoch ms; 0: never. */
  readonly readAtMs: number;
}

/** Something that could not be compared, and why. */
export interface Uncompared {
  readonly resource: string;
  /** null: it concerns more than one record. */
  readonly id: RecordId | null;
  readonly message: string;
}

/** How far one resource is compared. */
export interface ResourceCounts {
  /** Records that its lists show; null: it has no list of its own. */
  service: number | null;
  /** Live rows. */
  mirror: number;
  /** Live rows of which only the preview is known. */
  provisional: number;
  /** Details, or lists of parents, that were compared. */
  details: number;
  isDone: boolean;
}

/** What every part of one comparison shares. */
export interface Comparison {
  readonly view: MirrorView;
  readonly resources: readonly Resource[];
  readonly reader: ServiceReader;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Does another process hold the mirror's writer lock? */
  readonly isWritten: () => boolean;
  readonly counts: Map<string, ResourceCounts>;
  /** By resource: records that seem to differ. They are asked for again before anything is said. */
  readonly suspects: Map<string, Set<RecordId>>;
  /** Details and lists of parents that may be compared. */
  readonly deepReads: DeepRead[];
  readonly uncompared: Uncompared[];
  /** By resource: some records that should exist, to try a route with. */
  readonly examples: Map<string, RecordId[]>;
  /** Resources whose detail route has answered 200. */
  readonly provenRoutes: Set<string>;
}

/** Begins a comparison: nothing is compared yet. */
export function newComparison(
  parts: Omit<Comparison, "counts" | "suspects" | "deepReads" | "uncompared" | "examples" | "provenRoutes">,
): Comparison {
  const none = { service: null, mirror: 0, provisional: 0, details: 0, isDone: false };
  return {
    ...parts,
    counts: new Map(parts.resources.map(({ name }) => [name, { ...none }])),
    suspects: new Map(),
    deepReads: [],
    uncompared: [],
    examples: new Map(),
    provenRoutes: new Set(),
  };
}

/** The counts of a resource that is compared. */
export function countsOf({ counts }: Comparison, resource: string): ResourceCounts {
  const found = counts.get(resource);
  if (!found) throw new Error(`broken promise: ${resource} is compared`);
  return found;
}

/** Notes that a record seems to differ; not one of a resource that is not compared. */
export function suspect({ suspects, counts }: Comparison, resource: string, id: RecordId): void {
  if (!counts.has(resource)) return;
  const ids = suspects.get(resource) ?? new Set();
  suspects.set(resource, ids.add(id));
}
