import { messageOf } from "../../base/errors.ts";
import type { RecordId } from "../../base/ids.ts";
import { pathOf, type Resource } from "../../connector/resource.ts";
import { NotFoundError } from "../../connector/service-errors.ts";
import { readDetail } from "../../extract/answers.ts";
import { judgeDeletion } from "../../sync/deletion/deletion-proof.ts";
import type { Comparison } from "./comparison.ts";
import type { Shown } from "../compare/compare-record.ts";
import { readLists } from "../service/list-reading.ts";
import { ReadRefused } from "../service/service-reader.ts";

/** Lists of resources without routes for their records, each read once for many records. */
export type FreshLists = Map<string, Promise<ReadonlyMap<RecordId, Buffer>>>;

/** Asks the service for one record now: its own route, else the list that shows it whole. */
export async function readFresh(
  comparison: Comparison,
  resource: Resource,
  id: RecordId,
  fresh: FreshLists,
): Promise<Shown> {
  if (resource.detail === undefined) return readFromList(comparison, resource, id, fresh);
  const path = pathOf(resource.detail, id);
  try {
    const { slice, withoutId } = await comparison.reader.read({ path }, "detail", (body) =>
      readDetail(body, id),
    );
    if (withoutId) return unreadable(`GET ${path}: the answer does not say which record it is`);
    comparison.provenRoutes.add(resource.name);
    return { kind: "shown", slice };
  } catch (error) {
    if (!(error instanceof ReadRefused)) throw error;
    if (!(error.reason instanceof NotFoundError)) return unreadable(`GET ${path}: ${messageOf(error)}`);
    return judgeNotFound(comparison, resource, id, error.reason);
  }
}

function unreadable(why: string): Shown {
  return { kind: "unreadable", why };
}

/** A 404 counts where the route has answered 200, as for a deletion (I5). */
async function judgeNotFound(
  comparison: Comparison,
  resource: Resource,
  id: RecordId,
  { serviceMessage }: NotFoundError,
): Promise<Shown> {
  const { provenRoutes, examples, reader } = comparison;
  const { name, detail = "" } = resource;
  // The record itself may be an example: it was there when the lists were read.
  const candidates = (examples.get(name) ?? []).filter((one) => one !== id);
  // What is asked for here differs from the lists, or is missing from them.
  const facts = { candidates, isSuspected: true };
  const judged = () => judgeDeletion(serviceMessage, { ...facts, routeProven: provenRoutes.has(name) }, id);
  if (judged().kind === "probe") {
    for (const candidate of candidates) {
      if (provenRoutes.has(name)) break;
      try {
        await reader.read({ path: pathOf(detail, candidate) }, "detail", (body) =>
          readDetail(body, candidate),
        );
        provenRoutes.add(name);
      } catch (error) {
        if (!(error instanceof ReadRefused)) throw error;
      }
    }
  }
  const verdict = judged();
  if (verdict.kind === "deleted") return { kind: "absent" };
  if (verdict.kind === "unproven") return unreadable(verdict.why);
  return unreadable(`GET ${detail} returned 404 also for other records`);
}

async function readFromList(
  { reader }: Comparison,
  resource: Resource,
  id: RecordId,
  fresh: FreshLists,
): Promise<Shown> {
  const { name } = resource;
  const read = async () => {
    const slices = new Map<RecordId, Buffer>();
    await readLists(reader, resource, (one, slice) => void slices.set(one, slice));
    return slices;
  };
  const known = fresh.get(name) ?? read();
  fresh.set(name, known);
  try {
    const slices = await known;
    const slice = slices.get(id);
    if (slice) return { kind: "shown", slice };
    return slices.size > 0 ? { kind: "absent" } : unreadable("its list came back empty");
  } catch (error) {
    if (!(error instanceof ReadRefused)) throw error;
    return unreadable(`its list cannot be compared: ${messageOf(error)}`);
  }
}
