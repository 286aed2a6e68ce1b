import { pick } from "../base/values.ts";
import { isIn } from "../collections/record-list.ts";
import { seriesView } from "../documents/number-series.ts";
import type { Call } from "../http/router.ts";
import { list, oneRecord, type Answer } from "../http/service-answer.ts";
import { Missing } from "../rules/problems.ts";
import { subjects } from "../samples/parties.ts";

/** The number series of one kind of document. */
export function listSeries({ company, query }: Call): Answer {
  const own = company.tables.numerical_series.where(
    ({ documentKind }) => documentKind === query["documentType"],
  );
  return list(own.map((one) => seriesView(company, one)));
}

const subjectView = (subject: (typeof subjects)[number]) =>
  pick(subject, ["id", "name", "taxId", "vatId", "legalForm", "city", "street", "zip"]);

/** Subjects of the register by a part of the name or the beginning of the business id. */
export function listSubjects({ query }: Call): Answer {
  const { searchQuery = "", legalForm, limit = "20" } = query;
  const found = subjects.filter(
    (subject) =>
      subject.legalForm === (legalForm ?? subject.legalForm) &&
      (isIn(searchQuery, subject.name) || subject.subjectId.startsWith(searchQuery)),
  );
  return list(found.slice(0, Number(limit)).map(subjectView));
}

/** One subject of the register. @throws Missing */
export function showSubject({ id }: Call): Answer {
  const subject = subjects.find((one) => one.id === id);
  if (!subject) throw new Missing();
  return oneRecord(subjectView(subject));
}
