import { momentOf } from "../base/calendar.ts";
import { seededRandom } from "../base/seeded-random.ts";
import { caseTopics, statusNames } from "./sample-words.ts";
import { fill, type Seeding } from "./seed-plan.ts";

/** Fills in the statuses of business cases. */
export function seedStatuses({ plan, company: { tables } }: Seeding): void {
  fill(tables.business_case_statuses, plan.volumes.business_case_statuses, (id, index) => {
    const [name = "", color = ""] = statusNames[index] ?? [];
    return { id, name, color };
  });
}

/** Fills in business cases, three of four with clients, spread over the statuses and over none. */
export function seedCases({ plan, company: { tables } }: Seeding): void {
  const { seed, today, firstIds, volumes } = plan;
  const { business_cases: count, clients, suppliers, business_case_statuses: statuses } = volumes;
  fill(tables.business_cases, count, (id, index) => {
    const random = seededRandom(seed, "case", index);
    const isClient = index % 4 !== 3;
    const column = index % (statuses + 1);
    const topic = caseTopics[index % caseTopics.length] ?? "";
    const createdAtMs = momentOf(today - random.int(2, 600), random.int(480, 1000));
    const budget = () => `Prvý kontakt na výstave.\nRozpočet do ${random.int(1, 90)} 000 €.`;
    return {
      id,
      contactType: isClient ? ("client" as const) : ("supplier" as const),
      contactId: isClient
        ? firstIds.clients + Math.floor((index * clients) / count)
        : firstIds.suppliers + (index % suppliers),
      name: index < caseTopics.length ? topic : `${topic} ${index + 1}`,
      description: random.often(0.5) ? budget() : null,
      statusId: column === statuses ? null : firstIds.business_case_statuses + column,
      boardPosition: Math.floor(index / (statuses + 1)) + 1,
      createdAtMs,
      updatedAtMs: createdAtMs + random.int(0, 20) * 3_600_000,
    };
  });
}
