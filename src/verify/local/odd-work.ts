import { valueOr } from "../../base/errors.ts";
import { recordId, type RecordId } from "../../base/ids.ts";
import { resourceNamed, type ConnectorDeclaration } from "../../connector/connector-declaration.ts";
import type { Resource } from "../../connector/resource.ts";
import { requestFor } from "../../extract/work-request.ts";
import { lanes } from "../../base/lane.ts";
import type { StateCheck } from "../../state/checks/state-check.ts";
import type { Listings } from "../../state/listings.ts";
import { variantsOf } from "../../state/sweeps.ts";
import type { WorkKind } from "../../base/lane.ts";
import { recordTarget, type NewWorkItem } from "../../state/work-item.ts";
import type { WorkQueue } from "../../state/work-queue.ts";
import type { OwnRow } from "../../store/own-tables/mirror-tables.ts";
import { sweepWork } from "../../sync/plan/list-reads.ts";

interface OddWork {
  readonly row: OwnRow<"_work">;
  readonly why: string;
}

const targetOf: Record<WorkKind, string> = { list: "page:", child: "child:", detail: "id:", confirm: "id:" };

const states = new Set<string>(["ready", "dead", "held"]);
const rowsAtOnce = 1_000;

/** Rows of the queue from which no request follows. */
export function* oddWork(check: StateCheck, declaration: ConnectorDeclaration): Generator<OddWork> {
  for (let id = 0; ;) {
    const rows = check.queuedAfter(id, rowsAtOnce);
    for (const row of rows) {
      const why = whyOdd(row, declaration);
      if (why !== null) yield { row, why };
    }
    const last = rows.at(-1);
    if (!last) return;
    ({ id } = last);
  }
}

function whyOdd(row: OwnRow<"_work">, { resources }: ConnectorDeclaration): string | null {
  const resource = resources.find(({ name }) => name === row.resource);
  if (!resource) return `no resource ${row.resource}`;
  if (lanes[row.lane] === undefined) return `lane ${row.lane}`;
  if (!states.has(row.state)) return `state ${row.state}`;
  if (!Object.hasOwn(targetOf, row.kind)) return `kind ${row.kind}`;
  const payload =
    row.payload === null ? undefined : valueOr(() => JSON.parse(row.payload ?? "") as unknown, null);
  if (payload === null) return "payload";
  return row.target.startsWith(targetOf[row.kind]) && hasRequest(resource, row, payload) ? null : "target";
}

function hasRequest(resource: Resource, row: OwnRow<"_work">, payload: unknown): boolean {
  const { dirty_seq: dirtySeq, ...same } = row;
  return valueOr(() => requestFor(resource, { ...same, dirtySeq, payload, lane: "list" }).path !== "", false);
}

/** Removes such a row, and queues the read that it stood for, as far as that can be known. */
export function replaceOddWork(
  { row }: OddWork,
  parts: {
    readonly declaration: ConnectorDeclaration;
    readonly queue: WorkQueue;
    readonly listings: Listings;
    readonly dirtySeq: number;
  },
): void {
  const { declaration, queue, listings, dirtySeq } = parts;
  queue.remove(row.id);
  if (!declaration.resources.some(({ name }) => name === row.resource)) return;
  const resource = resourceNamed(declaration, row.resource);
  const [kind, ...rest] = row.target.split(":");
  const id = kind === "id" ? recordId(rest[0] ?? "") : null;
  if (id !== null && resource.detail !== undefined) queue.add(repairRead(resource.name, id, dirtySeq));
  if (kind !== "page") return;
  // A reading without one of its pages would never be complete.
  const variant = rest.slice(0, -1).join(":");
  queue.drop(resource.name, `page:${variant}:`);
  listings.close(resource.name, variant);
  if (variantsOf(resource).includes(variant)) queue.add(sweepWork(resource.name, { variant }, dirtySeq));
}

/** Guard: a repair queues it for a record in which something is wrong; any read of the record ends that. */
export function repairRead(resource: string, id: RecordId, dirtySeq: number): NewWorkItem {
  return { kind: "detail", resource, target: recordTarget(id), lane: "changed", reason: "repair", dirtySeq };
}
