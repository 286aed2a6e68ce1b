import { messageOf } from "../../base/errors.ts";
import { NotFoundError, ForbiddenError } from "../../connector/service-errors.ts";
import type { Resource } from "../../connector/resource.ts";
import type { Transport } from "../../connector/transport.ts";
import { readList } from "../../extract/answers.ts";
import { pageFacts } from "../../extract/page-facts.ts";
import type { Records } from "../../store/tables/records.ts";
import { variantsOf } from "./sweep-plan.ts";

/** Requests a run would make for one resource. */
export interface ResourceEstimate {
  readonly list: number;
  readonly detail: number;
  readonly child: number;
  /** Records the service says it has; null where only reading shows it. */
  readonly records: number | null;
  readonly error?: string;
}

/** What the mirror already holds; null before the first run. */
type Known = Pick<Records, "liveCount"> | null;

/**
 * Estimates the requests of a run, by resource. Makes one small request per list and writes nothing. Lists and
 * child lists are exact while nobody changes anything; of details only new ones are known beforehand.
 *
 * @throws MirrorError when the service cannot be asked; 403 and 404 are reported per resource instead
 */
export async function estimateRun(
  transport: Transport,
  resources: readonly Resource[],
  known: Known,
  full: boolean,
): Promise<Map<string, ResourceEstimate>> {
  const estimates = new Map<string, ResourceEstimate>();
  const totals = new Map<string, number>();
  for (const resource of resources) {
    const estimate = await estimateOne(transport, resource, known, full, totals);
    estimates.set(resource.name, estimate);
  }
  return estimates;
}

async function estimateOne(
  transport: Transport,
  resource: Resource,
  known: Known,
  full: boolean,
  totals: Map<string, number>,
): Promise<ResourceEstimate> {
  const { list } = resource;
  if (list.kind === "single") return { list: 1, detail: 0, child: 0, records: 1 };
  if (list.kind === "owned") return { list: 0, detail: 0, child: 0, records: null };
  if (list.kind === "parents") {
    const child = list.parents.reduce(
      (sum, { resource: parent }) => sum + (totals.get(parent) ?? known?.liveCount(parent) ?? 0),
      0,
    );
    return { list: 0, detail: 0, child, records: null };
  }
  try {
    const records = await countRecords(transport, resource);
    totals.set(resource.name, records);
    const pages =
      list.kind === "paged" ? Math.max(1, Math.ceil(records / list.perPage)) : variantsOf(resource).length;
    return { list: pages, detail: detailsOf(resource, records, known, full), child: 0, records };
  } catch (error) {
    if (!(error instanceof NotFoundError || error instanceof ForbiddenError)) throw error;
    return { list: 1, detail: 0, child: 0, records: null, error: messageOf(error) };
  }
}

function detailsOf(resource: Resource, records: number, known: Known, full: boolean): number {
  if (resource.gives !== "preview") return 0;
  return full ? records : Math.max(0, records - (known?.liveCount(resource.name) ?? 0));
}

async function countRecords(transport: Transport, { list }: Resource): Promise<number> {
  if (list.kind === "paged") {
    const query = { ...list.params, perPage: 1, page: 1 };
    const answer = await transport.send({ method: "GET", path: list.path, query, expect: "json" });
    const { records, paginator } = readList(answer.body);
    return pageFacts(paginator, 1, records.count).total;
  }
  if (list.kind !== "whole") return 0;
  let count = 0;
  for (const value of list.variants?.values ?? [null]) {
    const query = list.variants && value !== null ? { [list.variants.param]: value } : {};
    const answer = await transport.send({ method: "GET", path: list.path, query, expect: "json" });
    count += readList(answer.body).records.count;
  }
  return count;
}
