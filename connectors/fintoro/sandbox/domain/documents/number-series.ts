import { documentTable } from "../../model/catalogue.ts";
import type { DocumentKind, Series } from "../../model/company-records.ts";
import type { Problems } from "../../rules/refusals.ts";
import type { Books } from "../../seed/document-seed.ts";
import { firstIdOf } from "../../seed/document-seed.ts";
import { yearOf } from "../../base/calendar.ts";
import { documentsOf, type Company } from "../company-state.ts";
import { formatNumber } from "../../base/document-numbers.ts";

/** Invoices and credit notes share one set of numbers. */
function rivals(kind: DocumentKind): readonly DocumentKind[] {
  return kind === "invoice" || kind === "credit-note" ? ["invoice", "credit-note"] : [kind];
}

const seededNumbers = new WeakMap<Books, Map<DocumentKind, ReadonlyMap<string, number>>>();

/** Seeded numbers never change, so the index of them is made once, at the first question. */
function numbersOf(books: Books, kind: DocumentKind): ReadonlyMap<string, number> {
  const byKind = seededNumbers.get(books) ?? new Map<DocumentKind, ReadonlyMap<string, number>>();
  seededNumbers.set(books, byKind);
  const known = byKind.get(kind);
  if (known) return known;
  const timeline = books.timelines[kind];
  const first = firstIdOf(books.plan, kind);
  const made = new Map(Array.from({ length: timeline.count }, (_, i) => [timeline.number(i), first + i]));
  byKind.set(kind, made);
  return made;
}

function isNumberFree(company: Company, kind: DocumentKind, number: string, ownId: number | null): boolean {
  return rivals(kind).every((rival) => {
    const table = documentsOf(company, rival);
    const own = rival === kind ? ownId : null;
    for (const document of table.writtenValues())
      if (document.number === number && document.id !== own) return false;
    const seeded = numbersOf(company.books, rival).get(number);
    return (
      seeded === undefined || seeded === own || !table.has(seeded) || table.written(seeded) !== undefined
    );
  });
}

export interface NumberWish {
  readonly number?: string | null | undefined;
  readonly numericalSeriesId?: number | null | undefined;
}

/** A manual number or a series, not both; without either, the default series. */
export function expectNumber(
  company: Company,
  problems: Problems,
  kind: DocumentKind,
  wish: NumberWish,
  ownId: number | null,
): void {
  const { number = null, numericalSeriesId = null } = wish;
  if (number !== null && numericalSeriesId !== null)
    problems.add("numericalSeriesId", "not_together", { other: "number" });
  if (number !== null) problems.expect(isNumberFree(company, kind, number, ownId), "number", "unique");
  if (numericalSeriesId === null) return;
  const series = company.tables.numerical_series.get(numericalSeriesId);
  problems.expect(series?.documentKind === kind, "numericalSeriesId", "exists");
}

export interface Numbered {
  readonly number: string;
  readonly numericalSeriesId: number | null;
}

/** Takes the number: a series counts on, past numbers that somebody gave by hand. */
export function takeNumber(
  company: Company,
  kind: DocumentKind,
  wish: NumberWish,
  issueDay: number,
): Numbered {
  if (wish.number !== null && wish.number !== undefined)
    return { number: wish.number, numericalSeriesId: null };
  const series = seriesFor(company, kind, wish.numericalSeriesId ?? null);
  const month = new Date(issueDay * 86_400_000).getUTCMonth() + 1;
  let counter = series.nextNumber;
  let number = "";
  do {
    number = formatNumber(series.pattern, { year: yearOf(issueDay), month, counter });
    counter++;
  } while (!isNumberFree(company, kind, number, null));
  company.tables.numerical_series.replace({ ...series, nextNumber: counter });
  return { number, numericalSeriesId: series.id };
}

function seriesFor(company: Company, kind: DocumentKind, id: number | null): Series {
  const all = [...company.tables.numerical_series.values()].filter((series) => series.documentKind === kind);
  const found = id === null ? all.find(({ isDefault }) => isDefault) : all.find((series) => series.id === id);
  if (!found) throw new Error(`broken promise: there is a series for ${documentTable[kind]}`);
  return found;
}
