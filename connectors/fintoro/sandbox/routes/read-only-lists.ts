import { z } from "zod";
import { latin, pick } from "../base/values.ts";
import { seriesView } from "../documents/number-series.ts";
import type { Call } from "../http/router.ts";
import { list, oneRecord, type Answer } from "../http/service-answer.ts";
import { documentKinds } from "../model/catalogue.ts";
import type { DocumentKind } from "../model/records.ts";
import { Missing } from "../rules/problems.ts";
import { parse, query } from "../rules/request-shape.ts";
import { subjects } from "../samples/parties.ts";

const seriesQuery = z.object({ documentType: z.enum(documentKinds as [DocumentKind, ...DocumentKind[]]) });

/** The number series of one kind of document. */
export function listSeries({ company, query: sent }: Call): Answer {
  const { documentType } = parse(seriesQuery, sent);
  const own = company.tables.numerical_series.where(({ documentKind }) => documentKind === documentType);
  return list(own.map((one) => seriesView(company, one)));
}

const subjectQuery = z.object({
  searchQuery: z.string().min(3).max(255),
  legalForm: query.oneOf(["freelancer", "company"]),
  limit: query.int(1, 20),
});

const subjectView = (subject: (typeof subjects)[number]) =>
  pick(subject, ["id", "name", "taxId", "vatId", "legalForm", "city", "street", "zip"]);

/** Subjects of the register by a part of the name or the beginning of the business id. */
export function listSubjects({ query: sent }: Call): Answer {
  const { searchQuery, legalForm, limit = 20 } = parse(subjectQuery, sent);
  const wanted = latin(searchQuery);
  const found = subjects.filter(
    (subject) =>
      (legalForm === undefined || subject.legalForm === legalForm) &&
      (latin(subject.name).includes(wanted) || subject.subjectId.startsWith(searchQuery)),
  );
  return list(found.slice(0, limit).map(subjectView));
}

/** One subject of the register. @throws Missing */
export function showSubject({ id }: Call): Answer {
  const subject = subjects.find((one) => one.id === id);
  if (!subject) throw new Missing();
  return oneRecord(subjectView(subject));
}
