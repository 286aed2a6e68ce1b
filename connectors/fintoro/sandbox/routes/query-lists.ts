import { z } from "zod";
import { latin } from "../base/values.ts";
import { documentsOf } from "../domain/company-state.ts";
import { logsOf } from "../domain/crm/activities.ts";
import { paymentsOf } from "../domain/documents/payment-rules.ts";
import { list, record, type Answer } from "../http/answer.ts";
import { documentKinds, payableKinds } from "../model/catalogue.ts";
import type { DocumentKind, Subject } from "../model/company-records.ts";
import { Missing, refuse } from "../rules/refusals.ts";
import { parse, queryInt, queryOneOf } from "../rules/request-shape.ts";
import { seededSubject } from "../seed/contact-seed.ts";
import { logView } from "../view/activity-view.ts";
import { subjectView } from "../view/contact-view.ts";
import { paymentView } from "../view/document-view.ts";
import { seriesView } from "../view/settings-view.ts";
import { paged } from "./paging.ts";
import type { Call } from "./router.ts";

const logQuery = z.object({
  businessCaseId: queryInt(),
  clientId: queryInt(),
  supplierId: queryInt(),
  type: queryOneOf(["note", "email", "phone_call", "document_linked"]),
});
const logTargets = [
  ["businessCaseId", "businessCase", "business_cases"],
  ["clientId", "client", "clients"],
  ["supplierId", "supplier", "suppliers"],
] as const;

/** The CRM events of one business case, client or supplier. */
export function listLogs(call: Call): Answer {
  const { company, language } = call;
  const wanted = parse(logQuery, call.query);
  const [only, ...others] = logTargets.filter(([param]) => wanted[param] !== undefined);
  if (!only || others.length > 0) {
    const fields = logTargets.map(([param]) => param).join(", ");
    refuse(only?.[0] ?? "businessCaseId", "exactly_one", { fields });
  }
  const [param, kind, table] = only;
  const id = wanted[param] ?? 0;
  if (!company.tables[table].has(id)) refuse(param, "exists");
  const all = logsOf(company, { kind, id });
  const logs = all.filter(({ type }) => wanted.type === undefined || type === wanted.type);
  const size = { most: 200, usual: 10 };
  return paged(call, "/contact-activity-logs", logs, size, (log) => logView(company, log, language));
}

const kinds = (allowed: readonly DocumentKind[]) => z.enum(allowed as [DocumentKind, ...DocumentKind[]]);
const documentId = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);
const paymentQuery = z.object({ documentType: kinds(payableKinds), documentId });

/** The payments of one document. */
export function listPayments({ company, query, language }: Call): Answer {
  const { documentType, documentId: id } = parse(paymentQuery, query);
  if (!documentsOf(company, documentType).has(id)) refuse("documentId", "exists");
  const payments = paymentsOf(company, documentType, id);
  return list(payments.map((payment) => paymentView(company, payment, language)));
}

const seriesQuery = z.object({ documentType: kinds(documentKinds) });

/** The numerical series of one kind of document. */
export function listSeries({ company, query }: Call): Answer {
  const { documentType } = parse(seriesQuery, query);
  const series = [...company.tables.numerical_series.values()];
  const own = series.filter(({ documentKind }) => documentKind === documentType);
  return list(own.map((one) => seriesView(company, one)));
}

/** The public register of companies; the same for everybody. */
const subjects: readonly Subject[] = Array.from({ length: 400 }, (_, index) => seededSubject(index));

const subjectQuery = z.object({
  searchQuery: z.string().min(3).max(255),
  legalForm: queryOneOf(["freelancer", "company"]),
  limit: queryInt(1, 20),
});

/** Subjects of the register by a part of the name or the beginning of the business id. */
export function listSubjects(call: Call): Answer {
  const { searchQuery, legalForm, limit = 20 } = parse(subjectQuery, call.query);
  const wanted = latin(searchQuery);
  const found = subjects.filter(
    (subject) =>
      (legalForm === undefined || subject.legalForm === legalForm) &&
      (latin(subject.name).includes(wanted) || (subject.subjectId ?? "").startsWith(searchQuery)),
  );
  return list(found.slice(0, limit).map(subjectView));
}

/** One subject of the register. */
export function showSubject({ id }: Call): Answer {
  const subject = subjects.find((one) => one.id === id);
  if (!subject) throw new Missing();
  return record(subjectView(subject));
}
