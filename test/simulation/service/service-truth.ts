import type { Shown, TableName } from "./service-types.ts";
import type { SimulatedService } from "./simulated-service.ts";

export type Witness = Pick<SimulatedService, "company" | "options" | "exchanges" | "exchangeOf">;

/** What the service holds of a table now, by id; a record without `listed` is shown by no list. */
export function recordsNow({ company, options }: Witness, table: TableName): ReadonlyMap<number, Shown> {
  return new Map(company.log.live(table, options.clock.monotonicMs()));
}

/** Was the record gone at a time when reads could show it, after the version with this text was last shown first? */
export function wasGoneAfter(service: Witness, table: TableName, id: number, text: string): boolean {
  const history = service.company.log.history(table, id);
  const seen = history.findIndex(({ shown }) => shown !== null && isText(shown, text));
  const untilMs = service.options.clock.monotonicMs();
  const gone = history.some(({ shown, fromMs }, i) => shown === null && i > seen && fromMs <= untilMs);
  return gone || wasShownAbsent(service, table, id, text);
}

/** Did a read that lagged behind show the state from before the record was there: on its route, or in what holds it? */
function wasShownAbsent(
  { company, exchanges, options }: Witness,
  table: TableName,
  id: number,
  text: string,
): boolean {
  if (options.lag !== "replica") return false;
  const routes = new Set([`/${table.replaceAll("_", "-")}/${id}`, `/${table}`]);
  const owner = invoiceOf(text);
  if (table === "document_payments" && owner !== undefined) routes.add(`/invoices/${owner}`);
  return exchanges.some(
    ({ route, status, asOfMs }) =>
      routes.has(route) && (status === 200 || status === 404) && company.log.at(table, id, asOfMs) === null,
  );
}

/** Whether a text is what a version shows, in its list or on its own route. */
export function isText({ detail, listed, reordered }: Shown, text: string | null): boolean {
  return text !== null && (detail === text || listed === text || reordered === text);
}

export function invoiceOf(payment: string): string | undefined {
  return /"documentId":(\d+),/.exec(payment)?.[1];
}
