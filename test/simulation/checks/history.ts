import { replayMistakes } from "../../support/truth/compare.ts";
import type { Exchange, TableName } from "../service/service-types.ts";
import { invoiceOf, wasGoneAfter, type Witness } from "../service/service-truth.ts";
import type { Check, MirrorContents, Observation } from "./mirror-contents.ts";

/** I2: the change log from 0 gives the live records, a row a change, and none for what changed nothing. */
export const unreplayable: Check = (mirror) =>
  replayMistakes(mirror.changes, mirror.everyRecord()).map((what) => `I2 ${what}`);

/** Their lists show less than their own routes. */
const previewed: ReadonlySet<TableName> = new Set<TableName>(["invoices", "price_list_items"]);

/** I3: the changes of a record follow from reads in the order in which these reached the service. */
export const staleOverwrites: Check = (mirror, { service }) => {
  const last = new Map<string, { read: Exchange; isDetail: boolean }>();
  return mirror.changes.flatMap(({ resource, id, requestId, after }) => {
    const key = `${resource} ${id}`;
    // An answer without a request id, or rows made anew. What was deleted so may come back as a preview.
    if (requestId === null && after === null) last.delete(key);
    if (requestId === null) return [];
    const read = service.exchangeOf(requestId);
    if (!read) return [`I3 ${key}: changed by ${requestId}, which nobody answered`];
    const earlier = last.get(key);
    const isDetail = after !== null && previewed.has(resource) && isDetailOf(service, resource, id, after);
    last.set(key, { read, isDetail });
    if (earlier?.isDetail && after !== null && !isDetail) return [`I3 ${key}: a preview replaced its detail`];
    if (!earlier || earlier.read.hitAtMs <= read.hitAtMs) return [];
    return [`I3 ${key}: ${requestId} was sent before ${earlier.read.requestId}, and applied after it`];
  });
};

/** I2: after a change the record is what the read that the change names showed of it. */
export const changesUnlikeTheirRead: Check = (mirror, { service }) =>
  mirror.changes.flatMap(({ resource, id, op, cause, requestId, after }) => {
    const read = service.exchangeOf(requestId);
    if (!read || after === null || cause === "schema") return [];
    const shown = service.company.log.at(resource, id, read.asOfMs);
    const route = `/${resource.replaceAll("_", "-")}`;
    const isShown =
      (after === shown?.listed && read.route !== `${route}/${id}`) ||
      (after === shown?.detail && read.route !== route);
    return isShown ? [] : [`I2 ${resource} ${id}: ${op} by ${read.requestId}, which did not show this`];
  });

function isDetailOf({ company }: Witness, table: TableName, id: number, text: string): boolean {
  return company.log.history(table, id).some(({ shown }) => shown?.detail === text);
}

/**
 * I5: whatever is called deleted was gone at the service at a time after it was last seen. A broken route that denies the
 * only record here is believed where something else says that it is gone: nothing is left to test the route with. Its
 * payments go with it.
 */
export const falseTombstones: Check = (mirror, seen) => {
  const deletions = lastDeletions(mirror);
  return [...mirror.everyRecord()]
    .filter(({ isDeleted }) => isDeleted)
    .filter(({ table, id, json }) => !wasGoneAfter(seen.service, table, id, json ?? ""))
    .filter(({ table, id }) => !wasDeniedAlone(mirror, seen, deletions.get(`${table} ${id}`) ?? null))
    .map(({ table, id }) => `I5 ${table} ${id}: deleted here, and never gone at the service`);
};

/**
 * I5: a record is deleted by the answer of its own route; a payment also by its invoice's, and what has no route by its list.
 */
export const unaskedDeletions: Check = (mirror, { service }) =>
  mirror.changes.flatMap(({ resource, id, op, requestId, before }) => {
    const read = service.exchangeOf(requestId);
    if (op !== "delete" || !read) return [];
    const isOwned = resource === "document_payments" && read.route === `/invoices/${invoiceOf(before ?? "")}`;
    const asked = resource === "units" ? "/units" : `/${resource.replaceAll("_", "-")}/${id}`;
    if (isOwned || read.route === asked) return [];
    return [`I5 ${resource} ${id}: deleted by ${read.route}, which is not its own route`];
  });

/** The request after which each record was deleted last, by its table and id. */
export function lastDeletions({ changes }: MirrorContents): ReadonlyMap<string, string | null> {
  const deletions = changes.filter(({ op }) => op === "delete");
  return new Map(deletions.map((one) => [`${one.resource} ${one.id}`, one.requestId]));
}

/**
 * Did this request ask a broken route for a record while the mirror held no other one to test the route with? Such a 404 is
 * believed where something else says that the record is gone.
 */
export function wasDeniedAlone(
  mirror: MirrorContents,
  { service, deniedAtMs, receivedAtMs }: Observation,
  requestId: string | null,
): boolean {
  const asked = service.exchangeOf(requestId);
  const [, route = "", id = ""] = asked?.route.split("/") ?? [];
  const table = route.replaceAll("-", "_") as TableName;
  if (!asked || !deniedAtMs.has(`${table} ${id}`)) return false;
  const deniedMs = receivedAtMs.get(asked.requestId) ?? asked.hitAtMs;
  const live = new Set<number>();
  for (const { resource, id: other, op, requestId: by } of mirror.changes) {
    const cameMs = receivedAtMs.get(by ?? "") ?? service.exchangeOf(by)?.hitAtMs;
    if (resource !== table || other === Number(id) || cameMs === undefined || cameMs > deniedMs) continue;
    if (op === "delete") live.delete(other);
    else live.add(other);
  }
  return live.size === 0;
}
