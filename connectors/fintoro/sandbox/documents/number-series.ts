import { formatNumber, variableSymbol } from "../base/identifiers.ts";
import { omit, type JsonObject } from "../base/values.ts";
import { documentsOf, type Company } from "../model/company-state.ts";
import type { DocumentInput, DocumentKind, Series } from "../model/records.ts";

/** Takes the number that the request names, or the next free one of a series, which then counts on. */
export function takeNumber(
  company: Company,
  kind: DocumentKind,
  { number: wanted, numericalSeriesId }: Pick<DocumentInput, "number" | "numericalSeriesId">,
  issueDay: number,
) {
  if (typeof wanted === "string") return { number: wanted, numericalSeriesId: null };
  const [series] = company.tables.numerical_series.where(
    ({ documentKind, isDefault, id }) =>
      documentKind === kind && (numericalSeriesId ? id === numericalSeriesId : isDefault),
  );
  if (!series) throw new Error(`broken promise: there is a number series for ${kind}`);
  let { nextNumber } = series;
  let number = "";
  do number = formatNumber(series.pattern, issueDay, nextNumber++);
  while (documentsOf(company, kind).findBy("number", number).length > 0);
  company.tables.numerical_series.replace({ ...series, nextNumber });
  return { number, numericalSeriesId: series.id };
}

/** A number series, with the number that it gives next. */
export function seriesView({ settings }: Company, series: Series): JsonObject {
  const nextDocumentNumber = formatNumber(series.pattern, settings.today, series.nextNumber);
  const nextVariableSymbol = variableSymbol(nextDocumentNumber);
  const { documentKind: documentType } = series;
  return { ...omit(series, ["documentKind"]), documentType, nextDocumentNumber, nextVariableSymbol };
}
