import { formatNumber, variableSymbol } from "../base/identifiers.ts";
import { omit, type JsonObject } from "../base/values.ts";
import { documentsOf, type Company } from "../model/company-state.ts";
import type { Series } from "../model/records.ts";
import type { Problems } from "../rules/problems.ts";
import type { DocumentInput, DocumentWrite } from "./shapes.ts";

/** A document that is to get a number: the one that the request names, or one of a series. */
interface Numbered extends Pick<DocumentWrite, "company" | "kind"> {
  readonly sent: Pick<DocumentInput, "number" | "numericalSeriesId">;
}

/** Invoices and credit notes share one set of numbers. */
function isFree({ company, kind }: Numbered, number: string, ownId: number | null): boolean {
  const shared = ["invoice", "credit-note"] as const;
  const rivals = shared.some((one) => one === kind) ? shared : [kind];
  return rivals.every((rival) =>
    documentsOf(company, rival)
      .findBy("number", number)
      .every(({ id }) => rival === kind && id === ownId),
  );
}

/** A number or a series may be named, not both. The number must be free, the series one of the kind. */
export function expectNumber(problems: Problems, numbered: Numbered, ownId: number | null): void {
  const { number = null, numericalSeriesId = null } = numbered.sent;
  const both = number !== null && numericalSeriesId !== null;
  problems.expect(!both, "numericalSeriesId", "not_together", { other: "number" });
  if (number !== null) problems.expect(isFree(numbered, number, ownId), "number", "unique");
  problems.expect(
    numericalSeriesId === null || seriesFor(numbered) !== undefined,
    "numericalSeriesId",
    "exists",
  );
}

/** Takes the named number, or the next free one of the series, which then counts on. */
export function takeNumber(numbered: Numbered, issueDay: number) {
  const { company, kind, sent } = numbered;
  if (typeof sent.number === "string") return { number: sent.number, numericalSeriesId: null };
  const series = seriesFor(numbered);
  if (!series) throw new Error(`broken promise: there is a number series for ${kind}`);
  let { nextNumber } = series;
  let number = "";
  do {
    number = formatNumber(series.pattern, issueDay, nextNumber++);
  } while (!isFree(numbered, number, null));
  company.tables.numerical_series.replace({ ...series, nextNumber });
  return { number, numericalSeriesId: series.id };
}

/** The series that is named, else the default one of the kind. */
function seriesFor({ company, kind, sent }: Numbered): Series | undefined {
  const { numericalSeriesId: named = null } = sent;
  const series = company.tables.numerical_series.where((one) => one.documentKind === kind);
  return series.find(({ id, isDefault }) => (named === null ? isDefault : id === named));
}

/** A number series, with the number that it gives next. */
export function seriesView({ settings }: Company, series: Series): JsonObject {
  const number = formatNumber(series.pattern, settings.today, series.nextNumber);
  return {
    ...omit(series, ["documentKind"]),
    documentType: series.documentKind,
    nextDocumentNumber: number,
    nextVariableSymbol: variableSymbol(number),
  };
}
