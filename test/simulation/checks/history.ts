import type { Db } from "../../support/compare.ts";
import { tableNames, type Exchange, type TableName } from "../service/service-types.ts";
import { wasGoneAfter } from "../service/service-truth.ts";
import { rowMistakes } from "./expected-rows.ts";
import type { Check } from "./observation.ts";
import { recordsOf } from "./mirror-rows.ts";

interface Change {
  readonly seq: number;
  readonly resource: string;
  readonly record_id: number;
  readonly op: string;
  readonly request_id: string | null;
  readonly before: string | null;
  readonly after: string | null;
}

function changesOf(db: Db): Change[] {
  return db
    .prepare(
      "SELECT seq, resource, record_id, op, request_id, before, after FROM _changes WHERE op <> 'event' ORDER BY seq",
    )
    .all() as Change[];
}

/** I2: the change log from 0 gives the live records, a row a change, and none for what changed nothing. */
export const unreplayable: Check = (db) => {
  const live = new Map<string, string>();
  const odd: string[] = [];
  for (const { resource, record_id: id, op, before, after } of changesOf(db)) {
    const key = `${resource} ${id}`;
    if ((live.get(key) ?? null) !== before) odd.push(`I2 ${key}: ${op} over something else`);
    if ((op === "insert") !== !live.has(key)) odd.push(`I2 ${key}: ${op} where it cannot be`);
    if ((op === "delete") !== (after === null))
      odd.push(`I2 ${key}: ${op} that leaves ${after === null ? "nothing" : "a record"}`);
    if (before === after) odd.push(`I2 ${key}: ${op} that changes nothing`);
    if (after === null) live.delete(key);
    else live.set(key, after);
  }
  for (const table of tableNames) {
    for (const { id, isDeleted, json } of recordsOf(db, table)) {
      const key = `${table} ${id}`;
      if (!isDeleted && live.get(key) !== json) odd.push(`I2 ${key}: not what the change log gives`);
      if (isDeleted && live.has(key)) odd.push(`I2 ${key}: deleted, and the change log does not say so`);
      live.delete(key);
    }
  }
  return [...odd, ...[...live.keys()].map((key) => `I2 ${key}: in the change log only`)];
};

/** I2: each live row and its parts are what its JSON says. */
export const rowsUnlikeJson: Check = (db) =>
  tableNames.flatMap((table) => {
    const live = recordsOf(db, table).flatMap(({ id, isDeleted, json }): [number, string][] =>
      isDeleted || json === null ? [] : [[id, json]],
    );
    return rowMistakes(db, table, new Map(live)).map((what) => `I2 ${what}`);
  });

/** I3: the changes of a record follow from reads in the order in which these reached the service. */
export const staleOverwrites: Check = (db, { service }) => {
  const byRequest = new Map(service.exchanges.map((one) => [one.requestId, one]));
  const last = new Map<string, Exchange>();
  const previews = new Map<string, string>();
  return changesOf(db).flatMap(({ resource, record_id: id, request_id: requestId, after }) => {
    const key = `${resource} ${id}`;
    const read = requestId === null ? undefined : byRequest.get(requestId);
    if (requestId !== null && !read) return [`I3 ${key}: changed by ${requestId}, which nobody answered`];
    if (!read) return [];
    const earlier = last.get(key);
    last.set(key, read);
    const wasDetail = previews.get(key) === "detail";
    const kind = kindOf(service, resource as TableName, id, after);
    previews.set(key, kind);
    if (wasDetail && kind === "preview") return [`I3 ${key}: a preview replaced its detail`];
    if (!earlier || earlier.hitAtMs <= read.hitAtMs) return [];
    return [`I3 ${key}: ${read.requestId} was sent before ${earlier.requestId}, and applied after it`];
  });
};

type Service = Parameters<Check>[1]["service"];

function kindOf(
  { company }: Service,
  table: TableName,
  id: number,
  text: string | null,
): "detail" | "preview" | "gone" {
  if (text === null) return "gone";
  return company.log.history(table, id).some(({ shown }) => shown?.detail === text) ? "detail" : "preview";
}

/** I3 and I12: what is here of a record is, byte for byte, what the service showed of it at some time. */
export const neverShown: Check = (db, { service }) =>
  tableNames.flatMap((table) =>
    recordsOf(db, table).flatMap(({ id, json }) => {
      const history = service.company.log.history(table, id);
      const isKnown = history.some(({ shown }) => shown && (shown.detail === json || shown.listed === json));
      return isKnown ? [] : [`I12 ${table} ${id}: the service never showed ${json}`];
    }),
  );

/** I5: whatever is called deleted was gone at the service at a time after it was last seen. */
export const falseTombstones: Check = (db, { service }) =>
  tableNames.flatMap((table) =>
    recordsOf(db, table)
      .filter(({ id, isDeleted, json }) => isDeleted && !wasGoneAfter(service, table, id, json ?? ""))
      .map(({ id }) => `I5 ${table} ${id}: deleted here, and never gone at the service`),
  );
