import { seededRandom } from "../base/seeded-random.ts";
import { momentOf } from "../base/calendar.ts";
import type { BusinessCase, CaseStatus } from "../model/company-records.ts";
import type { Plan } from "./seed-plan.ts";
import { caseTopics, statusNames } from "./sample-words.ts";

export function seededStatuses(plan: Plan): CaseStatus[] {
  const first = plan.firstIds.business_case_statuses;
  return statusNames
    .slice(0, plan.volumes.business_case_statuses)
    .map(([name, color], index) => ({ id: first + index, name, color }));
}

/** Three of four cases are with clients. */
const isWithClient = (index: number) => index % 4 !== 3;

export function seededCase(plan: Plan, id: number): BusinessCase {
  const index = id - plan.firstIds.business_cases;
  const random = seededRandom(plan.seed, "case", index);
  const statuses = plan.volumes.business_case_statuses;
  const column = index % (statuses + 1);
  const topic = caseTopics[index % caseTopics.length] ?? "";
  const createdAtMs = momentOf(plan.today - random.int(2, 600), random.int(480, 1000));
  return {
    id,
    contactType: isWithClient(index) ? "client" : "supplier",
    contactId: contactOf(plan, index),
    name: index < caseTopics.length ? topic : `${topic} ${index + 1}`,
    description: random.often(0.5)
      ? `Prvý kontakt na výstave.\nRozpočet do ${random.int(1, 90)} 000 €.`
      : null,
    statusId: column === statuses ? null : plan.firstIds.business_case_statuses + column,
    boardPosition: Math.floor(index / (statuses + 1)) + 1,
    createdAtMs,
    updatedAtMs: createdAtMs + random.int(0, 20) * 3_600_000,
  };
}

function contactOf(plan: Plan, index: number): number {
  const { business_cases: cases, clients, suppliers } = plan.volumes;
  return isWithClient(index)
    ? plan.firstIds.clients + Math.floor((index * clients) / cases)
    : plan.firstIds.suppliers + (index % suppliers);
}

/** The inverse of the above: a case with this client, if there is one. */
export function caseOfClient(plan: Plan, clientId: number): number | null {
  const { business_cases: cases, clients } = plan.volumes;
  const client = clientId - plan.firstIds.clients;
  const index = Math.ceil((client * cases) / clients);
  if (index >= cases || !isWithClient(index) || Math.floor((index * clients) / cases) !== client) return null;
  return plan.firstIds.business_cases + index;
}
