import { formatNumber, variableSymbol } from "../base/identifiers.ts";
import { omit, type JsonObject } from "../base/values.ts";
import { documentsOf, type Company } from "../model/company-state.ts";
import type { Series } from "../model/records.ts";
import type { DocumentInput, DocumentWrite } from "./shapes.ts";

/** A document that is to get a number: the one that the request names, or one of a series. */
interface Numbered extends Pick<DocumentWrite, "company" | "kind"> {
  readonly sent: Pick<DocumentInput, "number" | "numericalSeriesId">;
}

/** Takes the named number, or the next free one of the series, which then counts on. */
export function takeNumber(numbered: Numbered, issueDay: number) {
  const { company, kind, sent } = numbered;
  if (typeof sent.number === "string") return { number: sent.number, numericalSeriesId: null };
  const series = seriesFor(numbered);
  if (!series) throw new Error(`broken promise: there is a number series for ${kind}`);
  let { nextNumber } = series;
  let number = "";
  do number = formatNumber(series.pattern, issueDay, nextNumber++);
  while (documentsOf(company, kind).findBy("number", number).length > 0);
  company.tables.numerical_series.replace({ ...series, nextNumber });
  return { number, numericalSeriesId: series.id };
}

/** The series that is named, else the default one of the kind. */
function seriesFor({
  company,
  kind,
  sent: { numericalSeriesId: named = null },
}: Numbered): Series | undefined {
  const series = company.tables.numerical_series.where(({ documentKind }) => documentKind === kind);
  return series.find(({ id, isDefault }) => (named === null ? isDefault : id === named));
}

/** A number series, with the number that it gives next. */
export function seriesView({ settings }: Company, series: Series): JsonObject {
  const nextDocumentNumber = formatNumber(series.pattern, settings.today, series.nextNumber);
  const nextVariableSymbol = variableSymbol(nextDocumentNumber);
  const { documentKind: documentType } = series;
  return { ...omit(series, ["documentKind"]), documentType, nextDocumentNumber, nextVariableSymbol };
}
