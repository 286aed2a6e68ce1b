import { tableNames, type Shown, type TableName } from "./service-types.ts";
import type { SimulatedService } from "./simulated-service.ts";

/** The part of the service that checks ask about. */
export type Witness = Pick<SimulatedService, "company" | "options" | "exchanges">;

/** What the service holds of a table now, by id; a record without `listed` is shown by no list. */
export function recordsNow({ company, options }: Witness, table: TableName): ReadonlyMap<number, Shown> {
  return new Map(company.log.live(table, options.clock.monotonicMs()));
}

/** Everything the service holds now. */
export function allRecordsNow(service: Witness): ReadonlyMap<TableName, ReadonlyMap<number, Shown>> {
  return new Map(tableNames.map((table) => [table, recordsNow(service, table)]));
}

/** Was the record gone at a time when reads could show it, after the version with this text was last shown first? */
export function wasGoneAfter(service: Witness, table: TableName, id: number, text: string): boolean {
  const history = service.company.log.history(table, id);
  const seen = history.findIndex(({ shown }) => shown !== null && isText(shown, text));
  const untilMs = service.options.clock.monotonicMs();
  const gone = history.some(({ shown, fromMs }, i) => shown === null && i > seen && fromMs <= untilMs);
  return gone || wasRefused(service, table, id);
}

/** Did a read that lagged behind answer 404 for the record before it was there? */
function wasRefused({ exchanges, options }: Witness, table: TableName, id: number): boolean {
  if (options.lag !== "replica") return false;
  const route = `/${table.replaceAll("_", "-")}/${id}`;
  return exchanges.some((one) => one.route === route && one.status === 404);
}

/** Whether a text is what a version shows, in its list or on its own route. */
function isText({ detail, listed }: Shown, text: string): boolean {
  return detail === text || listed === text;
}
