import { z } from "zod";
import { logsOf } from "../../domain/crm/activities.ts";
import type { Company } from "../../domain/company-state.ts";
import type { ActivityLog, ActivityTarget, BusinessCase } from "../../model/company-records.ts";
import { refuse } from "../../rules/refusals.ts";
import { parse, queryInt, queryOneOf, queryText } from "../../rules/request-shape.ts";
import { latin } from "../../base/values.ts";
import { logView } from "../../view/activity-view.ts";
import { caseView } from "../../view/settings-view.ts";
import type { Answer } from "../answer.ts";
import { paged } from "../paging.ts";
import type { Call } from "../route.ts";

const caseQuery = z.object({
  clientId: queryInt(),
  supplierId: queryInt(),
  statusId: queryInt(),
  search: queryText(255),
  sortBy: queryOneOf(["name", "createdAt", "updatedAt", "boardPosition"]),
  sortDirection: queryOneOf(["asc", "desc"]),
});
type CaseFilters = z.output<typeof caseQuery>;

/** Without `sortBy` the newest id comes first; `id` itself is not a value one may send. */
export function listCases(call: Call): Answer {
  const { company, language } = call;
  const { statusId, ...query } = call.query;
  const wanted = parse(caseQuery, statusId === undefined || statusId === "" ? query : call.query);
  if (wanted.clientId !== undefined && wanted.supplierId !== undefined) {
    refuse("supplierId", "not_together", { other: "clientId" });
  }
  const table = company.tables.business_cases;
  const { sortBy = "id", sortDirection = "desc" } = wanted;
  const keyOf = (id: number) => caseKey(table.get(id) as BusinessCase, sortBy);
  const ascending = company.orders.by(table, `cases/${sortBy}`, keyOf);
  const sorted = sortDirection === "asc" ? ascending : ascending.toReversed();
  const noStatus = statusId === "";
  const ids = sorted.filter((id) => fitsCase(table.get(id) as BusinessCase, wanted, noStatus));
  const view = (id: number) => caseView(company, table.get(id) as BusinessCase, language);
  return paged(call, "/business-cases", ids, { most: 200, usual: 10 }, view);
}

function caseKey(item: BusinessCase, sortBy: string): string | number {
  if (sortBy === "name") return latin(item.name);
  if (sortBy === "boardPosition") return item.boardPosition;
  return sortBy === "createdAt" ? item.createdAtMs : sortBy === "updatedAt" ? item.updatedAtMs : item.id;
}

function fitsCase(item: BusinessCase, wanted: CaseFilters, noStatus: boolean): boolean {
  const { clientId, supplierId, statusId, search } = wanted;
  const isOf = (type: string, id: number | undefined) =>
    id === undefined || (item.contactType === type && item.contactId === id);
  const text = latin(`${item.name}\n${item.description ?? ""}`);
  return (
    isOf("client", clientId) &&
    isOf("supplier", supplierId) &&
    (statusId === undefined || item.statusId === statusId) &&
    (!noStatus || item.statusId === null) &&
    (search === undefined || text.includes(latin(search)))
  );
}

const logQuery = z.object({
  businessCaseId: queryInt(),
  clientId: queryInt(),
  supplierId: queryInt(),
  type: queryOneOf(["note", "email", "phone_call", "document_linked"]),
});

const targets = [
  ["businessCaseId", "businessCase"],
  ["clientId", "client"],
  ["supplierId", "supplier"],
] as const;

export function listLogs(call: Call): Answer {
  const { company, language } = call;
  const wanted = parse(logQuery, call.query);
  const named = targets.filter(([param]) => wanted[param] !== undefined);
  const [only] = named;
  const fields = targets.map(([param]) => param).join(", ");
  if (!only || named.length !== 1) refuse(only?.[0] ?? "businessCaseId", "exactly_one", { fields });
  const [param, kind] = only;
  const target = { kind, id: wanted[param] ?? 0 };
  if (!targetExists(company, target)) refuse(param, "exists");
  const logs = logsOf(company, target).filter((log) => wanted.type === undefined || log.type === wanted.type);
  const byId = new Map(logs.map((log) => [log.id, log]));
  const view = (id: number) => logView(company, byId.get(id) as ActivityLog, language);
  return paged(call, "/contact-activity-logs", [...byId.keys()], { most: 200, usual: 10 }, view);
}

function targetExists(company: Company, { kind, id }: ActivityTarget): boolean {
  const { business_cases: cases, clients, suppliers } = company.tables;
  return (kind === "businessCase" ? cases : kind === "client" ? clients : suppliers).has(id);
}
